import { lstatSync } from 'node:fs';
import { relative } from 'node:path';

/** Parts of /usr that contain no programs, but may contain configuration with secrets (an npmrc) and the operator's own sources. */
const hidden = ['/usr/etc', '/usr/src'];
/** Of this directory, operators make any use. */
const local = '/usr/local';
const shownOfLocal = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libexec', 'include', 'share', 'games', 'go'];

/** Whether a path of the host is where every sandbox shows the same file. */
export function isShown(path: string): boolean {
  if (!path.startsWith('/usr/') || hidden.some((directory) => path.startsWith(`${directory}/`))) return false;
  const [first = ''] = relative(local, path).split('/');
  return !path.startsWith(`${local}/`) || shownOfLocal.includes(first);
}

/** The programs of the host for bubblewrap: /usr without what is no program. */
export function hostPrograms(): string[] {
  const masked = [...hidden, local].filter(isDirectory);
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...masked.flatMap((directory) => ['--tmpfs', directory]),
    ...shownOfLocal
      .map((name) => `${local}/${name}`)
      .filter(() => masked.includes(local))
      .flatMap((path) => ['--ro-bind-try', path, path]),
    // Else they would be disks in memory without a limit.
    ...masked.flatMap((directory) => ['--remount-ro', directory]),
  ];
}

const isDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
