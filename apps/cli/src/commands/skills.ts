import { readFile, readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type Command, type Context, UsageError } from '../command';
import { readCount } from '../parse-arguments';
import { writeContent } from '../write-content';

/** The files of a folder by their paths, and those that are programs. Links and what Git keeps are left out. */
async function readFolder(folder: string): Promise<{ files: Record<string, Blob>; executable: string[] }> {
  const files: Record<string, Blob> = {};
  const executable: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(folder, file).split(sep).join('/');
    if (!entry.isFile() || path.startsWith('.git/')) continue;
    files[path] = new Blob([new Uint8Array(await readFile(file))]);
    if (((await stat(file)).mode & 0o111) !== 0) executable.push(path);
  }
  return { files, executable };
}

export const skillsAdd: Command = {
  name: 'skills add',
  summary: 'Upload a skill, or a new version of it',
  args: [{ name: 'DIR|ZIP' }],
  details: 'DIR has a SKILL.md. The same files as before make no other version.',
  async run(given, { rondo, terminal }) {
    const [place = ''] = given.args;
    const isFolder = (await stat(place)).isDirectory();
    const { files, executable } = isFolder
      ? await readFolder(place)
      : { files: { 'skill.zip': new Blob([new Uint8Array(await readFile(place))]) }, executable: [] };
    const skill = await rondo().skills.create(files, { executable });
    if (terminal.isJson) terminal.json(skill);
    else terminal.line(`${skill.name}  version ${skill.version}  ${skill.id}`);
    return 'ok';
  },
};

const skillArgument = { name: 'NAME|ID' };

export const skillsFiles: Command = {
  name: 'skills files',
  summary: 'List the files of a skill, or write one of them to standard output or into a file',
  args: [skillArgument, { name: 'PATH', optional: true }],
  options: [
    { name: 'of', value: 'VERSION', help: 'a version (the newest)' },
    { name: 'output', short: 'o', value: 'FILE', help: 'instead of standard output' },
  ],
  async run(given, context) {
    const [named = '', path] = given.args;
    const { terminal } = context;
    const { skills } = context.rondo();
    const id = await findSkill(named, context);
    const version = readCount(given, 'of', 1) ?? (await skills.get(id)).version;
    if (path !== undefined)
      return writeContent(await skills.file(id, version, { path }), given.value('output'), terminal);
    const files = await skills.files(id, version);
    if (terminal.isJson) for (const file of files) terminal.json(file);
    else terminal.table(files.map((file) => [file.is_executable ? 'program' : 'file', `${file.size}`, file.path]));
    return 'ok';
  },
};

export const skillsRemove: Command = {
  name: 'skills remove',
  summary: 'Delete a skill with its versions',
  args: [skillArgument],
  async run(given, context) {
    const [named = ''] = given.args;
    const id = await findSkill(named, context);
    await context.rondo().skills.delete(id);
    if (context.terminal.isJson) context.terminal.json({ id, deleted: true });
    else context.terminal.line(`${named} is deleted.`);
    return 'ok';
  },
};

async function findSkill(name: string, { rondo }: Context): Promise<string> {
  if (name.startsWith('skl_')) return name;
  for await (const skill of rondo().skills.list()) if (skill.name === name) return skill.id;
  throw new UsageError(`There is no skill ${name}.`);
}
