import type { SandboxLabels } from '../provider/sandbox-provider';
import type { SandboxSettings } from '../provider/sandbox-settings';
import { agentMemoryMegabytes, sessionBytes } from '../host/agent/launcher';
import type { Workspace } from '../host/workspaces/workspaces';
import type { DockerSettings } from '../provider/docker-settings';

const sharedMemoryBytes = 64 * 1024 * 1024;
const labelPrefix = 'rondo.';
/** A sandbox has it, too, with another value: an image with packages has the labels of the container that it was made of. */
const installationLabel = `${labelPrefix}installation`;

/** Where the files of a sandbox appear in its container. */
export const inside = {
  workspace: '/workspace',
  skills: '/skills',
  agent: '/rondo/agent',
  sessions: '/rondo/sessions',
  egressSocket: '/rondo/egress.sock',
  secretSocket: '/rondo/secrets.sock',
};

export interface ContainerParts {
  readonly settings: SandboxSettings;
  readonly docker: DockerSettings;
  /** Its id or its name. */
  readonly image: string;
  readonly workspace: Workspace;
  /** In the agent's arguments, so that its process can be told from others. */
  readonly name: string;
  readonly agentDirectory: string;
  readonly egressSocket: string | undefined;
  readonly secretSocket: string | undefined;
}

/** The label by which an executor finds the containers that it has started before it died. */
export const ownerLabel = (root: string): string => `${labelPrefix}root=${root}`;

/**
 * A container without network, capabilities, privileges to gain or a writable root. What it may write: its workspace, `/tmp` in
 * memory, and what is kept of its sessions, which has a place of its own: else a full `/tmp` would keep commands from starting. It is deleted by the engine when it ends, and it ends when the executor is no longer attached.
 */
export function containerRequest({ settings, docker, image, workspace, name, ...paths }: ContainerParts): object {
  return {
    Image: image,
    Entrypoint: ['/bin/sh', `${inside.agent}/contained.sh`, ...agentArguments(name)],
    Cmd: [],
    User: toUser(workspace),
    WorkingDir: inside.workspace,
    Hostname: 'sandbox',
    StopSignal: 'SIGKILL', // Podman sends it first and waits ten seconds, also when a container is to be removed by force.
    Labels: toLabels(workspace, settings),
    ...attached,
    HostConfig: {
      ...confined,
      AutoRemove: true,
      ...toLimits(settings),
      Tmpfs: {
        '/tmp': `rw,exec,nosuid,nodev,mode=1777,size=${settings.temporaryBytes}`,
        [inside.sessions]: `rw,noexec,nosuid,nodev,mode=1777,size=${sessionBytes}`,
      },
      Mounts: toMounts(workspace, paths),
      ...(docker.runtime !== undefined && { Runtime: docker.runtime }),
    },
  };
}

interface InstallationParts {
  readonly settings: SandboxSettings;
  readonly image: string;
  readonly order: object;
  readonly agentDirectory: string;
  readonly egressSocket: string;
}

/** What a package manager needs of root, to give files to users. It has no key to the host: no device, no mount, no module. */
const installing = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETGID', 'SETUID'];

/** A container that installs packages into its root. It has the limits and the network of a sandbox, and no workspace or secret. */
export const installationRequest = ({
  settings,
  image,
  order,
  agentDirectory,
  egressSocket,
}: InstallationParts): object => ({
  Image: image,
  Entrypoint: ['/bin/sh', '-c', `exec node ${inside.agent}/install.cjs "$0"`, JSON.stringify(order)],
  Cmd: [],
  ...{ User: '0:0', WorkingDir: '/', Hostname: 'sandbox', StopSignal: 'SIGKILL' },
  Labels: { [`${labelPrefix}root`]: settings.root, [installationLabel]: 'true' },
  ...attached,
  HostConfig: {
    ...confined,
    ...{ AutoRemove: false, ReadonlyRootfs: false, CapAdd: installing },
    ...toLimits(settings),
    Tmpfs: { '/tmp': `rw,exec,nosuid,nodev,mode=1777,size=${settings.temporaryBytes}` },
    Mounts: toMounts(undefined, { agentDirectory, egressSocket, secretSocket: undefined }),
  },
});

/** What a program of an image finds in a sandbox, without a workspace. It says what the image lacks for one. */
export const trialRequest = (image: string, root: string): object => ({
  Image: image,
  Entrypoint: ['/bin/sh', '-c', trial],
  Cmd: [],
  ...{ User: '65534:65534', WorkingDir: '/', Hostname: 'sandbox', StopSignal: 'SIGKILL' },
  Labels: { [`${labelPrefix}root`]: root },
  ...attached,
  HostConfig: {
    ...confined,
    AutoRemove: false,
    ...{ Memory: trialMemoryBytes, MemorySwap: trialMemoryBytes, PidsLimit: 64, NanoCpus: 1e9, Ulimits: [] },
    ShmSize: sharedMemoryBytes,
    Tmpfs: { '/tmp': 'rw,noexec,nosuid,nodev,mode=1777,size=1048576' },
    Mounts: [],
  },
});

const trialMemoryBytes = 512 * 1024 * 1024;
const trial = `
lacks() { echo "$1"; exit 1; }
command -v bash >/dev/null || lacks 'it has no bash.'
command -v cp >/dev/null || lacks 'it has no cp.'
command -v node >/dev/null || lacks 'it has no Node.js, which runs what serves a sandbox from inside.'
node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || lacks 'its Node.js is older than 20, or does not run.'
for loader in /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.* /lib/ld-musl-*.so.*; do [ -x "$loader" ] && exit 0; done
lacks 'it has no loader of programs that is known here.'
`;

const attached = {
  ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, OpenStdin: true, StdinOnce: true, Tty: false },
};

const confined = {
  ...{ Init: false, NetworkMode: 'none', IpcMode: 'private', CgroupnsMode: 'private' },
  ...{ Privileged: false, ReadonlyRootfs: true, CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges:true'] },
  LogConfig: { Type: 'none' }, // The output of a sandbox is its agent's protocol.
};

const agentArguments = (name: string): string[] => [
  ...[`--max-old-space-size=${agentMemoryMegabytes}`, `${inside.agent}/main.cjs`, '0', '1', name],
];

function toLimits({ memoryBytes, processes, cpu, openFiles, fileSizeBytes }: SandboxSettings): object {
  const limit = (Name: string, most: number) => ({ Name, Soft: most, Hard: most });
  return {
    ...{ Memory: memoryBytes, MemorySwap: memoryBytes, PidsLimit: processes, NanoCpus: Math.round(cpu * 1e9) },
    ShmSize: sharedMemoryBytes,
    Ulimits: [limit('nofile', openFiles), limit('fsize', fileSizeBytes), limit('core', 0)],
  };
}

function toMounts(
  workspace: Pick<Workspace, 'directory' | 'skills'> | undefined,
  paths: Pick<ContainerParts, 'agentDirectory' | 'egressSocket' | 'secretSocket'>,
): object[] {
  const bind = (Source: string, Target: string, ReadOnly: boolean) => ({ Type: 'bind', Source, Target, ReadOnly });
  return [
    ...(workspace ? [bind(workspace.directory, inside.workspace, false)] : []),
    ...(workspace?.skills === undefined ? [] : [bind(workspace.skills, inside.skills, true)]),
    bind(paths.agentDirectory, inside.agent, true),
    ...(paths.egressSocket === undefined ? [] : [bind(paths.egressSocket, inside.egressSocket, true)]),
    ...(paths.secretSocket === undefined ? [] : [bind(paths.secretSocket, inside.secretSocket, true)]),
  ];
}

/** A user of its own where the executor may give files away, else the executor's own, which is not root then. */
function toUser({ uid }: Workspace): string {
  const [user, group] = uid === undefined ? [process.getuid?.(), process.getgid?.()] : [uid, uid];
  return `${user}:${group}`;
}

function toLabels({ threadId, labels = {} }: Workspace, { install, root }: SandboxSettings): Record<string, string> {
  const given: SandboxLabels = { ...(install !== undefined && { install }), ...labels, thread: threadId };
  const named = Object.entries(given).map(([name, value]): [string, string] => [
    `${labelPrefix}${name}`,
    String(value),
  ]);
  return Object.fromEntries([...named, [`${labelPrefix}root`, root], [installationLabel, 'false']]);
}
