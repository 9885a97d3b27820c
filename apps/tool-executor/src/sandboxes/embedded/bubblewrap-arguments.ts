import { lstatSync, readlinkSync } from 'node:fs';
import { sessionBytes } from '../host/agent/launcher';
import { hostPrograms } from './host-programs';
import type { ShownProgram } from './node-program';
import type { SandboxSettings } from '../provider/sandbox-settings';

export interface View {
  workspace: string;
  /** Absent for trials. */
  skills: string | undefined;
  agent: string;
  /** Of the first process and the agent, see `guarded-start.ts`. */
  loader: string;
  systemFiles: string;
  egressSocket: string | undefined;
  secretSocket: string | undefined;
  /** Besides those in /usr. */
  programs: ShownProgram;
  disableUserNamespaces: boolean;
  seccompFd: number | undefined;
  statusFd: number;
}

export const insideUid = 1000;
export const insideSkills = '/skills';
export const insideAgent = '/run/agent';
export const insideSessions = '/run/sessions';
export const insideLoader = '/run/loader';
export const insideEgressSocket = '/run/egress.sock';
export const insideSecretSocket = '/run/secrets.sock';

const sharedMemoryBytes = 64 * 1024 * 1024;
const runBytes = 16 * 1024 * 1024;
/** Parts of the host's /etc that programs need and that contain nothing private. */
const publicSystemFiles = [
  'alternatives',
  'ssl',
  'ca-certificates',
  'pki',
  'ld.so.cache',
  'fonts',
  'localtime',
  'mime.types',
];

/** The file system of a sandbox: the host's programs read-only, a few system files of its own, and one writable directory. */
export function bubblewrapArguments(view: View, settings: SandboxSettings): string[] {
  return [
    ...namespaces(view),
    ...programs(view),
    ...publicSystemFiles.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ...['passwd', 'group', 'hosts', 'nsswitch.conf'].flatMap((name) => [
      '--ro-bind',
      `${view.systemFiles}/${name}`,
      `/etc/${name}`,
    ]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...mountMemoryDisk('/tmp', settings.temporaryBytes),
    ...mountMemoryDisk('/dev/shm', sharedMemoryBytes),
    ...mountMemoryDisk('/run', runBytes),
    ...mountMemoryDisk(insideSessions, sessionBytes), // where `/run` is full, commands start all the same
    ...['--bind', view.workspace, '/workspace', '--chdir', '/workspace'],
    ...(view.skills === undefined ? [] : ['--ro-bind', view.skills, insideSkills]),
    ...['--ro-bind', view.agent, insideAgent, '--ro-bind', view.loader, insideLoader],
    ...(view.egressSocket === undefined ? [] : ['--ro-bind', view.egressSocket, insideEgressSocket]),
    ...(view.secretSocket === undefined ? [] : ['--ro-bind', view.secretSocket, insideSecretSocket]),
    // `--dev` creates a tmpfs without a size limit, so it is made read-only.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...(view.seccompFd === undefined ? [] : ['--seccomp', String(view.seccompFd)]),
    // Instead of bubblewrap's own first process, which lets others of its user into its memory.
    ...['--as-pid-1', '--json-status-fd', String(view.statusFd)],
  ];
}

function namespaces({ disableUserNamespaces }: View): string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try', '--unshare-net'],
    ...(disableUserNamespaces ? ['--disable-userns'] : []),
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ...['--uid', String(insideUid), '--gid', String(insideUid)],
  ];
}

function programs({ programs: { shown, links } }: View): string[] {
  return [
    ...hostPrograms(),
    ...['/bin', '/sbin', '/lib', '/lib32', '/lib64'].flatMap(topDirectory),
    ...shown.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    ...links.flatMap(({ path, target }) => ['--symlink', target, path]),
  ];
}

/** Most distributions have merged these into /usr; the rest keep real directories. */
function topDirectory(path: string): string[] {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status) return [];
  return status.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

function mountMemoryDisk(path: string, bytes: number): string[] {
  return ['--size', String(bytes), '--tmpfs', path];
}
