import { randomUUID } from 'node:crypto';
import { chmod, copyFile, mkdir, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * How the first process of a sandbox and its agent are started. They have the user of the commands, and the kernel would let
 * those write into their memory. It closes the memory, the descriptors and the environment of a process whose program may be
 * executed but not read. Node may be read, so the program here is a copy of the loader, which then loads Node.
 */
const executableOnly = 0o111;

/** The loader of this host, such as `/lib64/ld-linux-x86-64.so.2`. Undefined where Node was built to need none. */
function findLoader(): string | undefined {
  const { sharedObjects } = process.report.getReport() as { sharedObjects?: readonly string[] }; // Node's documented report.
  return sharedObjects?.find((path) => /^ld-(linux|musl)\b/.test(basename(path)));
}

/** Puts the copy among the workspaces: directories for temporary files often permit no programs. Resolves to its path. */
export async function installLoader(root: string): Promise<string> {
  const loader = findLoader();
  if (loader === undefined) throw new Error('This Node is not loaded by ld.so, so its memory cannot be closed.');
  const path = join(root, '.loader');
  const draft = `${path}.${randomUUID()}`;
  await mkdir(root, { recursive: true, mode: 0o711 });
  await copyFile(loader, draft);
  await chmod(draft, executableOnly);
  await rename(draft, path);
  return path;
}

/**
 * The first process, which waits for processes that have lost their parents, and below it the program. It ends with the
 * program. Both are closed if `loader` may be executed but not read.
 */
export const guardCommand = (loader: string, program: readonly string[]): string[] => [
  ...[loader, '/bin/sh', '-c', '"$0" "$@"; exit $?', loader],
  ...program,
];

/** Fails, and says so, where a command can open the memory of the agent or of the first process. */
export const guardTrial =
  'for number in 1 $PPID; do (: <>/proc/$number/mem) 2>/dev/null && echo "Process $number is open." && exit 1; done; true';
