import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import type { PtyHandle } from '@daytonaio/sdk' with { 'resolution-mode': 'import' };
import { SandboxError } from '../provider/sandbox-error';
import type { Machine } from './daytona-client';

const beginMs = 10_000;

/** Where the script of a terminal lies until it is run, and what is typed to run it: too long a line would be cut. */
export interface TerminalScript {
  readonly id: string;
  readonly text: string;
  /** The line that the script prints first. What comes before it is the prompt, and the echo of what was typed. */
  readonly begin: string;
}

/** The terminal is in raw mode when the script begins, so that it passes every byte on. */
export function terminalScript(script: string): TerminalScript {
  const id = randomUUID();
  const text = ['rm -f -- "$0"', 'stty raw -echo', `printf 'begin %s\\n' "$1"`, script].join('\n');
  return { id, text, begin: `begin ${id}\n` };
}

/**
 * A script in a sandbox at Daytona, whose standard input and output are this stream. Daytona runs it in a terminal behind a web
 * socket. The stream ends when the script does, or when the connection is lost; both end the script's processes.
 */
export class DaytonaTerminal extends Duplex {
  private pty: PtyHandle | undefined;
  private before: Buffer | undefined = Buffer.alloc(0);

  private constructor(
    private readonly begin: string,
    private readonly used: () => void,
  ) {
    super({ allowHalfOpen: false });
    this.on('error', () => undefined); // Who reads it sees that it is closed.
  }

  /** Rejects with SandboxError `failed` when the script does not begin in time. */
  static async open(
    machine: Machine,
    { path, script: { id, begin }, used }: { path: string; script: TerminalScript; used: () => void },
  ): Promise<DaytonaTerminal> {
    const terminal = new DaytonaTerminal(begin, used);
    const pty = await machine.process.createPty({ id, cwd: '/tmp', onData: (bytes) => terminal.receive(bytes) });
    terminal.pty = pty;
    void pty
      .wait()
      .catch(() => undefined)
      .then(() => terminal.push(null));
    try {
      const begun = once(terminal, 'begin', { signal: AbortSignal.timeout(beginMs) });
      await Promise.all([begun, pty.sendInput(`exec bash ${path} ${id}\n`)]);
    } catch {
      terminal.destroy();
      throw new SandboxError('failed', 'A terminal of the sandbox did not begin to work.');
    }
    return terminal;
  }

  override _read(): void {
    // The service sends what there is.
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.used();
    this.pty?.sendInput(bytes).then(() => done(), done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { pty } = this;
    void pty?.disconnect();
    void pty?.kill().catch(() => undefined); // It may have ended, or its sandbox.
    done(error);
  }

  private receive(bytes: Uint8Array): void {
    if (this.before === undefined) {
      this.push(bytes);
      return;
    }
    this.before = Buffer.concat([this.before, bytes]);
    const at = this.before.indexOf(this.begin);
    if (at < 0) return;
    const first = this.before.subarray(at + this.begin.length);
    this.before = undefined;
    this.emit('begin');
    if (first.length > 0) this.push(first);
  }
}
