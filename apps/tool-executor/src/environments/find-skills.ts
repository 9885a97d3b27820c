import { type WorkspaceSkill, workspaceSkill } from '@rondo/contract';
import { readFrontMatter } from '@rondo/platform';
import { type Sandbox, SandboxError } from '../sandboxes';

/** Where programs look for the skills of a project, the first of a name counts. */
const folders = ['.rondo/skills', '.agents/skills', '.claude/skills'];
const manifest = 'SKILL.md';
const most = 50;
const frontMatterBytes = 16 * 1024;

const read = workspaceSkill.pick({ name: true, description: true });

/**
 * The skills of a repository, by their names. They are the texts of strangers: what is no skill in the form of agentskills.io is left out,
 * and files are read in the sandbox, so that no link leads out of it.
 */
export async function findSkills({ files }: Sandbox, repository: string): Promise<WorkspaceSkill[]> {
  const found = new Map<string, WorkspaceSkill>();
  for (const folder of folders) {
    const root = `${repository}/${folder}`;
    for (const path of await listFolders(files, root)) {
      if (found.size === most) break;
      const skill = await readSkill(files, path);
      if (skill && !found.has(skill.name)) found.set(skill.name, skill);
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function listFolders(files: Sandbox['files'], root: string): Promise<string[]> {
  const { entries } = await files.list(root, { depth: 1 }).catch(nothing);
  return entries
    .filter(({ kind, path }) => kind === 'directory' && workspaceSkill.shape.name.safeParse(lastPart(path)).success)
    .map(({ path }) => `${root}/${lastPart(path)}`)
    .sort()
    .slice(0, most);
}

async function readSkill(files: Sandbox['files'], path: string): Promise<WorkspaceSkill | undefined> {
  const file = `${path}/${manifest}`;
  const status = await files.stat(file);
  if (status?.kind !== 'file') return undefined;
  try {
    const { content } = await files.read(file, { offset: 0, length: frontMatterBytes });
    const parsed = read.safeParse(readFrontMatter(content, frontMatterBytes));
    return parsed.success && parsed.data.name === lastPart(path) ? { ...parsed.data, path } : undefined;
  } catch (error) {
    if (error instanceof SandboxError && ['lost', 'unavailable'].includes(error.code)) throw error;
    return undefined;
  }
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** There is no such folder. */
function nothing(error: unknown): Awaited<ReturnType<Sandbox['files']['list']>> {
  if (error instanceof SandboxError && !['lost', 'unavailable'].includes(error.code))
    return { entries: [], truncated: false };
  throw error;
}
