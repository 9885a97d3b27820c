import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { type Sandbox, SandboxError } from '../sandboxes';
import { readMessage } from './lenient-message';
import { toError } from '@rondo/platform';

export interface SandboxServer {
  /** A name of its own among the sessions of the sandbox. */
  readonly session: string;
  readonly command: string;
  /** The id under which the command runs: that of the call that needs it. */
  readonly commandId: string;
  readonly run: string;
}

/** What is read of a server's output in one turn of the event loop: others wait meanwhile. */
const turnCharacters = 64 * 1024;
const countedCharacters = 16 * 1024;
const longestLine = 16 * 1024 * 1024;
const output = { keepBytes: 4 * 1024 * 1024, maxOutputBytes: 256 * 1024 * 1024 };
const shownErrorBytes = 400;
const readErrorsMs = 2_000;
/** The first megabyte of it, so that a server that runs for long fills no disk. */
const keepErrors = (file: string): string => `dd of='${file}' bs=4096 count=256 status=none; cat >/dev/null`;
const pauses = { first: 10, longest: 200 };

/**
 * A server that runs as a command inside the thread's sandbox and speaks over its standard streams, one message per line. It
 * has what commands of the sandbox have, and nothing of this process.
 */
export class SandboxTransport implements Transport {
  /** By these two the SDK sees that it is a command, which may be silent when it is asked what it does not know. */
  readonly stderr = null;
  readonly pid = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  private offset = 0;
  /** The parts of the line that has not ended. */
  private line: string[] = [];
  private lineLength = 0;
  private readonly closed = new AbortController();
  /** Requests without an answer: the output is read for as long as there are any. */
  private readonly open = new Set<string | number>();
  private reading = false;

  constructor(
    private readonly sandbox: Pick<Sandbox, 'start' | 'read' | 'write' | 'terminate' | 'exec'>,
    private readonly server: SandboxServer,
    /** Called for each message and line that answers nothing. */
    private readonly unasked: () => void,
  ) {}

  private isClosed(): boolean {
    return this.closed.signal.aborted;
  }

  /** A server that an earlier executor started in the session ends first. */
  async start(): Promise<void> {
    const { session, command, commandId, run } = this.server;
    await this.sandbox.terminate(session).catch(isAbsent);
    const request = { id: commandId, session, run, openInput: true, ...output };
    await this.sandbox.start({ ...request, command: `exec 2> >(${keepErrors(this.errorFile)})\n${command}` });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ('id' in message && 'method' in message) this.open.add(message.id);
    await this.sandbox.write(this.server.session, `${JSON.stringify(message)}\n`);
    void this.readAnswers();
  }

  async close(): Promise<void> {
    if (this.isClosed()) return;
    this.closed.abort();
    await this.sandbox.terminate(this.server.session).catch(() => undefined); // it died with its sandbox
    this.onclose?.();
  }

  /** The end of what the server wrote to its standard error, as far as it was kept. Never rejects. */
  async lastErrors(): Promise<string> {
    const id = `${this.server.commandId}-errors`;
    const command = `tail -c ${shownErrorBytes} '${this.errorFile}'`;
    const read = this.sandbox.exec({ id, command, timeoutMs: readErrorsMs });
    return read.then(({ exitCode, output }) => (exitCode === 0 ? output : '')).catch(() => '');
  }

  private get errorFile(): string {
    return `/tmp/.${this.server.session}.errors`;
  }

  private async readAnswers(): Promise<void> {
    if (this.reading) return;
    this.reading = true;
    try {
      await this.readWhileOpen();
    } catch (error) {
      this.onerror?.(toError(error));
      await this.close();
    } finally {
      this.reading = false;
    }
  }

  private async readWhileOpen(): Promise<void> {
    for (
      let pause = pauses.first;
      this.open.size > 0 && !this.isClosed();
      pause = Math.min(pause * 2, pauses.longest)
    ) {
      const { output: text, nextOffset, running } = await this.sandbox.read(this.server.session, this.offset);
      this.offset = nextOffset;
      for (let at = 0; at < text.length && !this.isClosed(); at += turnCharacters) {
        this.receive(text.slice(at, at + turnCharacters));
        await nextTurn();
      }
      if (this.open.size === 0) return;
      if (!running) throw new Error('The server has ended.');
      if (text !== '') pause = pauses.first;
      await sleep(pause, undefined, { ref: false });
    }
  }

  private receive(text: string): void {
    const [rest = '', ...more] = text.split('\n');
    this.line.push(rest);
    this.lineLength += rest.length;
    for (const next of more) {
      const line = this.line.join('');
      this.line = [next];
      this.lineLength = next.length;
      if (!this.isClosed()) this.receiveLine(line);
    }
    if (this.lineLength > longestLine) throw new Error('The server sent a line without an end.');
  }

  private receiveLine(line: string): void {
    const message = line.startsWith('{') ? readMessage(line) : undefined;
    const answered = message && 'id' in message && !('method' in message) ? message.id : undefined;
    if (message && answered !== undefined && this.open.delete(answered)) this.onmessage?.(message);
    else this.receiveUnasked(line, message);
  }

  /** What is no message is what a program prints besides. A long line counts for each of its parts. */
  private receiveUnasked(line: string, message: JSONRPCMessage | undefined): void {
    for (let at = 0; at === 0 || at < line.length; at += countedCharacters) this.unasked();
    if (message && 'method' in message) this.onmessage?.(message);
  }
}

function isAbsent(error: unknown): void {
  if (!(error instanceof SandboxError && error.code === 'not_found')) throw error;
}
