import { type ChildProcess, spawn } from 'node:child_process';
import { lstatSync, mkdirSync, readlinkSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ExecuteRequest, ExecuteResponse } from '@daytona/toolbox-api-client';
import { z } from 'zod';
import { imageBrowserMount } from '../../testing/image-browser';

const report = z.object({
  id: z.number().optional(),
  terminal: z.string().optional(),
  output: z.base64().optional(),
  timedOut: z.boolean().optional(),
  exitCode: z.number().optional(),
  result: z.string().optional(),
});
type Report = z.infer<typeof report>;

interface TerminalListeners {
  readonly output: (bytes: Buffer) => void;
  readonly ended: (exitCode: number) => void;
}

/** One sandbox of the test server: a directory for its files, and while it is started, real processes in namespaces of their own. */
export class TestMachine {
  private readonly open = new Map<number, (report: Report | undefined) => void>();
  private readonly terminals = new Map<string, TerminalListeners>();
  private child: ChildProcess | undefined;
  private lastId = 0;

  constructor(private readonly directory: string) {
    for (const name of ['workspace', 'tmp']) mkdirSync(join(directory, name), { recursive: true });
  }

  start(): void {
    const node = dirname(dirname(process.execPath));
    const child = spawn(
      process.env['BWRAP_PATH'] ?? 'bwrap',
      [...fileSystem(this.directory, node), process.execPath, '/run/machine-program.cjs'],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
        detached: true, // a group of its own, so that a kill also reaches what bubblewrap has only begun to start
        env: {
          PATH: `${node}/bin:/usr/local/bin:/usr/bin:/bin`,
          HOME: '/tmp',
          LANG: 'C.UTF-8',
          DAYTONA_SANDBOX_USER: 'daytona',
        },
      },
    );
    createInterface({ input: child.stdout }).on('line', (line) => {
      const answer = report.parse(JSON.parse(line));
      if (answer.terminal !== undefined) return this.passOn(answer.terminal, answer);
      this.open.get(answer.id ?? 0)?.(answer);
      this.open.delete(answer.id ?? 0);
    });
    this.child = child;
  }

  /** Undefined where it timed out. Rejects where the machine has stopped meanwhile. */
  async execute(request: ExecuteRequest): Promise<ExecuteResponse | undefined> {
    const id = (this.lastId += 1);
    const answered = new Promise<Report | undefined>((resolve) => this.open.set(id, resolve));
    this.tell({ ...request, id });
    const answer = this.child ? await answered : undefined;
    if (!answer) throw new Error('the sandbox has stopped');
    return answer.timedOut ? undefined : { exitCode: answer.exitCode ?? -1, result: answer.result ?? '' };
  }

  openTerminal(terminal: string, on: TerminalListeners): { write(bytes: Buffer): void } {
    this.terminals.set(terminal, on);
    this.tell({ terminal });
    return { write: (bytes) => this.tell({ terminal, input: bytes.toString('base64') }) };
  }

  killTerminal(terminal: string): void {
    this.tell({ terminal, kill: true });
  }

  /** Only what the provider uses: files below `/tmp`. */
  async upload(path: string, content: Buffer): Promise<void> {
    const file = join(this.directory, join('/', path));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }

  async stop(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child?.pid !== undefined && child.exitCode === null) {
      const ended = new Promise((resolve) => child.once('close', resolve));
      process.kill(-child.pid, 'SIGKILL');
      await ended;
    }
    for (const answer of this.open.values()) answer(undefined);
    this.open.clear();
    for (const { ended } of this.terminals.values()) ended(-1);
    this.terminals.clear();
  }

  private tell(message: object): void {
    this.child?.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  private passOn(terminal: string, { output, exitCode }: Report): void {
    if (output !== undefined) this.terminals.get(terminal)?.output(Buffer.from(output, 'base64'));
    if (exitCode === undefined) return;
    this.terminals.get(terminal)?.ended(exitCode);
    this.terminals.delete(terminal);
  }

  async delete(): Promise<void> {
    await this.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}

function fileSystem(directory: string, node: string): string[] {
  return [
    ...[
      '--unshare-pid',
      '--unshare-ipc',
      '--die-with-parent',
      '--ro-bind',
      '/usr',
      '/usr',
      '--ro-bind',
      '/etc',
      '/etc',
    ],
    ...['/bin', '/sbin', '/lib', '/lib64'].flatMap((path) => topDirectory(path)),
    ...imageBrowserMount(),
    ...['--ro-bind', node, node, '--proc', '/proc', '--dev', '/dev', '--dir', '/run'],
    ...['--bind', join(directory, 'workspace'), '/workspace', '--bind', join(directory, 'tmp'), '/tmp'],
    ...['--ro-bind', join(__dirname, 'machine-program.cjs'), '/run/machine-program.cjs', '--chdir', '/tmp'],
  ];
}

function topDirectory(path: string): string[] {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status) return [];
  return status.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}
