import { StringDecoder } from 'node:string_decoder';
import { BoundedOutput } from './bounded-output';
import type { CommandOutcome, Ending, OutputChunk, ProcessView } from '../../sandbox';

export interface CommandLimits {
  timeoutMs: number | undefined;
  graceMs: number;
  maxOutputBytes: number;
  keepBytes: number;
}

export interface CommandIdentity {
  id: string;
  session: string;
  command: string;
  background: boolean;
  run?: string | undefined;
}

export interface CommandEnd {
  ending: Ending;
  exitCode?: number;
  cwd?: string;
  detail?: string;
}

type OutputListener = (chunk: OutputChunk) => void;

/** What the host knows of one command. It outlives the sandbox it ran in, and it ends once. */
export class CommandRecord {
  readonly startedAt = new Date();
  cwd = '/workspace';
  /** How it ends if the sandbox dies under it on purpose; and the reason that only we know. */
  expected: Pick<CommandEnd, 'ending' | 'detail'> | undefined;
  private readonly output: BoundedOutput;
  private readonly decoder = new StringDecoder('utf8');
  private readonly listeners = new Set<OutputListener>();
  private result: CommandOutcome | undefined;
  private settle: (outcome: CommandOutcome) => void = () => {};
  private toldCharacters = 0;
  readonly outcome: Promise<CommandOutcome>;

  constructor(
    readonly identity: CommandIdentity,
    readonly limits: CommandLimits,
  ) {
    this.output = new BoundedOutput(limits.keepBytes);
    this.outcome = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  get running(): boolean {
    return this.result === undefined;
  }

  /** Over, but not by its own doing and with nothing said about what it got done. */
  get wasCutDown(): boolean {
    return this.result?.ending === 'killed' || this.result?.ending === 'sandbox-lost';
  }

  get outputBytes(): number {
    return this.output.totalBytes;
  }

  accept(bytes: Buffer): void {
    this.output.push(bytes);
    this.tell(this.decoder.write(bytes));
  }

  /** The first expectation stands: it is why the rest happened. */
  expect(ending: Ending, detail?: string): void {
    this.expected ??= { ending, ...(detail === undefined ? {} : { detail }) };
  }

  /** The sandbox is gone. */
  lose(otherwise: Ending): void {
    this.end(this.expected ?? { ending: otherwise });
  }

  /** A listener that comes late first gets what it has missed. */
  listen(listener: OutputListener): void {
    const { text } = this.output.since(0);
    if (text !== '') listener({ text, offset: 0 });
    if (this.running) this.listeners.add(listener);
  }

  end({ ending, exitCode, cwd, detail }: CommandEnd): void {
    if (this.result) return;
    this.tell(this.decoder.end());
    this.listeners.clear();
    if (cwd !== undefined) this.cwd = cwd;
    const because = detail ?? (this.expected?.ending === ending ? this.expected.detail : undefined);
    this.result = {
      ending,
      ...(ending === 'exit' && exitCode !== undefined ? { exitCode } : {}),
      output: this.output.final(),
      truncated: this.output.truncated,
      outputBytes: this.output.totalBytes,
      cwd: this.cwd,
      durationMs: Date.now() - this.startedAt.getTime(),
      ...(because === undefined ? {} : { detail: because }),
    };
    this.settle(this.result);
  }

  view(fromOffset = 0): ProcessView {
    const { text, nextOffset } = this.output.since(fromOffset);
    const { id, session, command } = this.identity;
    return {
      commandId: id,
      session,
      command,
      running: this.running,
      output: text,
      nextOffset,
      cwd: this.cwd,
      startedAt: this.startedAt.toISOString(),
      ...(this.result ? { outcome: this.result } : {}),
    };
  }

  private tell(text: string): void {
    if (text === '') return;
    for (const listener of this.listeners) listener({ text, offset: this.toldCharacters });
    this.toldCharacters += text.length;
  }
}
