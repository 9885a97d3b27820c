import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Command, type Context, type Given, UsageError } from '../command';
import { readCount } from '../parse-arguments';
import { writeContent } from '../write-content';

export const place = { name: 'RUN|THREAD|SANDBOX' };

/** The sandbox that an id names: itself, or that of its thread. */
export async function readSandbox(id: string, { rondo }: Context): Promise<string> {
  if (!id.startsWith('run_') && !id.startsWith('thr_')) return id;
  const threadId = id.startsWith('run_') ? (await rondo().runs.get(id)).thread_id : id;
  return (await rondo().sandboxes.ofThread(threadId)).id;
}

export const filesList: Command = {
  name: 'files ls',
  summary: 'List the files of a sandbox',
  args: [place, { name: 'PATH', optional: true }],
  options: [{ name: 'depth', value: 'NUMBER', help: 'how many levels of directories (1)' }],
  async run(given, context) {
    const { rondo, terminal } = context;
    const [id = '', path = '.'] = given.args;
    const depth = readCount(given, 'depth', 1) ?? 1;
    const { data, truncated } = await rondo().sandboxes.files(await readSandbox(id, context), { path, depth });
    if (terminal.isJson) for (const file of data) terminal.json(file);
    else terminal.table(data.map(({ path: name, kind, size }) => [kind, `${size}`, name]));
    if (truncated) terminal.complain('There are more; name a directory.');
    return 'ok';
  },
};

export const filesGet: Command = {
  name: 'files get',
  summary: 'Write a file of a sandbox to standard output or into a file',
  args: [place, { name: 'PATH' }],
  options: [{ name: 'output', short: 'o', value: 'FILE', help: 'instead of standard output' }],
  async run(given, context) {
    const [id = '', path = ''] = given.args;
    const response = await context.rondo().sandboxes.readFile(await readSandbox(id, context), path);
    return writeContent(response, given.value('output'), context.terminal);
  },
};

export const filesPut: Command = {
  name: 'files put',
  summary: 'Write a local file, or standard input (`-`), into a sandbox',
  args: [place, { name: 'FILE' }, { name: 'PATH', optional: true }],
  details: 'PATH is relative to the workspace; the name of the file unless given. Standard input needs one.',
  async run(given, context) {
    const { rondo, terminal } = context;
    const [id = '', file = '', path = basename(file)] = given.args;
    const content = file === '-' ? await readInput(given, context) : new Uint8Array(await readFile(file));
    const written = await rondo().sandboxes.writeFile(await readSandbox(id, context), { path, content });
    if (terminal.isJson) terminal.json(written);
    else terminal.line(`${written.path} (${written.size} bytes)`);
    return 'ok';
  },
};

async function readInput({ args }: Given, { terminal }: Context): Promise<Uint8Array<ArrayBuffer>> {
  const content = args.length < 3 ? undefined : await terminal.readPipedBytes();
  if (content) return content;
  throw new UsageError('With - the content is piped, and PATH is named: … | rondo files put RUN - PATH');
}
