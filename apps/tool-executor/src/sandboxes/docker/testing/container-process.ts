import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, readlinkSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { z } from 'zod';
import { imageBrowserMount } from '../../testing/image-browser';

const mount = z.strictObject({
  Type: z.literal('bind'),
  Source: z.string(),
  Target: z.string(),
  ReadOnly: z.boolean(),
});
const ulimit = z.strictObject({ Name: z.string(), Soft: z.number(), Hard: z.number() });

/**
 * What the test engine can do, in the types of Docker's Engine API. It refuses anything else: a spelling mistake in a request
 * would be ignored by a real engine, and with it the protection that was meant.
 */
export const containerRequest = z.strictObject({
  Image: z.string(),
  Entrypoint: z.array(z.string()),
  Cmd: z.tuple([]),
  User: z.string().regex(/^(?:0:0|[1-9]\d*:[1-9]\d*)$/),
  WorkingDir: z.string(),
  Hostname: z.string(),
  StopSignal: z.literal('SIGKILL'),
  Labels: z.record(z.string(), z.string()),
  AttachStdin: z.literal(true),
  AttachStdout: z.literal(true),
  AttachStderr: z.literal(true),
  OpenStdin: z.literal(true),
  StdinOnce: z.literal(true),
  Tty: z.literal(false),
  HostConfig: z.strictObject({
    AutoRemove: z.boolean(),
    Init: z.literal(false),
    NetworkMode: z.literal('none'),
    IpcMode: z.literal('private'),
    CgroupnsMode: z.literal('private'),
    Privileged: z.literal(false),
    ReadonlyRootfs: z.boolean(),
    CapDrop: z.tuple([z.literal('ALL')]),
    CapAdd: z.array(z.enum(['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'SETGID', 'SETUID'])).optional(),
    SecurityOpt: z.tuple([z.literal('no-new-privileges:true')]),
    LogConfig: z.strictObject({ Type: z.literal('none') }),
    Memory: z.number().int().positive(),
    MemorySwap: z.number().int().positive(),
    PidsLimit: z.number().int().positive(),
    NanoCpus: z.number().int().positive(),
    ShmSize: z.number().int().positive(),
    Ulimits: z.array(ulimit),
    Tmpfs: z.strictObject({ '/tmp': z.string(), '/rondo/sessions': z.string().optional() }),
    Mounts: z.array(mount),
    Runtime: z.string().optional(),
  }),
});
/** Only what installs packages is root, and writes to its root: without a workspace. */
export const isInstallation = ({ User, Labels, HostConfig }: ContainerRequest): boolean =>
  User === '0:0' && Labels['rondo.installation'] !== undefined && HostConfig.Mounts.every(({ ReadOnly }) => ReadOnly);

export type ContainerRequest = z.infer<typeof containerRequest>;

/** The processes of a container: real ones, in bubblewrap, with the mounts, the user and the network that were asked for. */
export class ContainerProcess {
  private readonly child: ChildProcess;
  /** Of the first process. */
  readonly started: Promise<number>;
  readonly ended: Promise<unknown[]>;

  /** `installation`: the program in the place of package managers, since the root of these containers is that of this host. */
  constructor(request: ContainerRequest, installation = 'true') {
    const [uid = '', gid = ''] = request.User.split(':');
    const asUser = process.getuid?.() === 0 ? ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'] : [];
    const [program = '', ...given] = [
      ...asUser,
      process.env['BWRAP_PATH'] ?? 'bwrap',
      ...view(request),
      ...(isInstallation(request) ? ['--', '/bin/sh', '-c', installation] : command(request)),
    ];
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', NODE_VERSION: 'from the image' };
    this.child = spawn(program, given, { cwd: '/', env, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
    for (const stream of this.child.stdio) stream?.on('error', () => undefined); // It ends with the process.
    this.ended = once(this.child, 'close');
    this.started = Promise.race([this.readFirstPid(), this.ended.then(() => 0)]);
  }

  /** The client's connection: what comes in goes to standard input; the outputs go out, each with a header. */
  join(connection: Duplex): void {
    const { stdin, stdout, stderr } = this.child;
    if (!stdin || !stdout || !stderr) throw new Error('the container has no pipes');
    connection.on('error', () => connection.destroy());
    connection.on('close', () => stdin.end()); // StdinOnce
    connection.pipe(stdin);
    for (const [kind, stream] of [stdout, stderr].entries()) {
      stream.on('data', (content: Buffer) => {
        if (!connection.write(Buffer.concat([createHeader(kind + 1, content.length), content]))) stream.pause();
      });
      connection.on('drain', () => stream.resume());
    }
    void this.ended.then(() => connection.end(() => connection.destroy()));
  }

  async kill(): Promise<void> {
    const pid = await this.started;
    try {
      if (pid > 0) process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended already.
    }
    this.child.kill('SIGKILL');
    await this.ended;
  }

  /** Reads the status to its end, or bubblewrap would be killed while it writes it. */
  private readFirstPid(): Promise<number> {
    const status = this.child.stdio[3];
    if (!(status instanceof Duplex)) throw new Error('bubblewrap reports no status');
    return new Promise((resolve) => {
      status.setEncoding('utf8').on('data', (text: string) => {
        const pid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
        if (pid !== undefined) resolve(Number(pid));
      });
    });
  }
}

const command = ({ Entrypoint }: ContainerRequest): string[] => ['--', ...Entrypoint];

/** The programs of this host take the place of the image. */
function view({ User, WorkingDir, Hostname, HostConfig }: ContainerRequest): string[] {
  const [uid = '', gid = ''] = User.split(':');
  const inMemory = Object.entries(HostConfig.Tmpfs).flatMap(([path, options = '']) => [
    ...['--size', /size=(\d+)/.exec(options)?.[1] ?? '', '--perms', '1777', '--tmpfs', path],
  ]);
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--die-with-parent'],
    ...['--uid', uid, '--gid', gid, '--cap-drop', 'ALL', '--hostname', Hostname, '--json-status-fd', '3', '--as-pid-1'],
    ...['--ro-bind', '/usr', '/usr', '--ro-bind', '/etc', '/etc', '--proc', '/proc', '--dev', '/dev'],
    ...['/bin', '/sbin', '/lib', '/lib64'].flatMap(topDirectory),
    ...imageBrowserMount(),
    ...inMemory,
    ...HostConfig.Mounts.flatMap(({ Source, Target, ReadOnly }) => [ReadOnly ? '--ro-bind' : '--bind', Source, Target]),
    ...['--remount-ro', '/', '--chdir', WorkingDir],
  ];
}

function topDirectory(path: string): string[] {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status) return [];
  return status.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

function createHeader(kind: number, length: number): Buffer {
  const header = Buffer.alloc(8);
  header[0] = kind;
  header.writeUInt32BE(length, 4);
  return header;
}
