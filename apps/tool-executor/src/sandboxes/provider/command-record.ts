import { StringDecoder } from 'node:string_decoder';
import { BoundedOutput } from './bounded-output';
import type { CommandOutcome, Ending, OutputChunk, ProcessView } from './sandbox';
import { workspacePath } from './workspace-path';

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
  openInput?: boolean | undefined;
}

export interface CommandEnd {
  ending: Ending;
  exitCode?: number;
  cwd?: string;
  detail?: string;
}

type OutputListener = (chunk: OutputChunk) => void;

/** The host's record of one command. It outlives the sandbox that ran the command, and ends once. */
export class CommandRecord {
  readonly startedAt = new Date();
  /** The same by a clock that is never set. */
  readonly startedMs = performance.now();
  cwd: string = workspacePath;
  /** The ending to report when the host itself kills the command or its sandbox, with the reason. */
  expected: Pick<CommandEnd, 'ending' | 'detail'> | undefined;
  private readonly output: BoundedOutput;
  private readonly decoder = new StringDecoder('utf8');
  private readonly listeners = new Set<OutputListener>();
  private result: CommandOutcome | undefined;
  private settle: (outcome: CommandOutcome) => void = () => {};
  private emittedCharacters = 0;
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

  /** Ended from outside, with an unknown effect. */
  get wasInterrupted(): boolean {
    return this.result?.ending === 'killed' || this.result?.ending === 'sandbox-lost';
  }

  get outputBytes(): number {
    return this.output.totalBytes;
  }

  accept(bytes: Buffer): void {
    this.output.push(bytes);
    this.emit(this.decoder.write(bytes));
  }

  /** The first expectation wins: it is the cause of the later ones. */
  expect(ending: Ending, detail?: string): void {
    this.expected ??= { ending, ...(detail === undefined ? {} : { detail }) };
  }

  /** The sandbox is gone. */
  lose(otherwise: Ending): void {
    this.end(this.expected ?? { ending: otherwise });
  }

  /** A late listener first gets the output so far. */
  listen(listener: OutputListener): void {
    const { text } = this.output.since(0);
    if (text !== '') listener({ text, offset: 0 });
    if (this.running) this.listeners.add(listener);
  }

  end({ ending, exitCode, cwd, detail }: CommandEnd): void {
    if (this.result) return;
    this.emit(this.decoder.end());
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
      durationMs: Math.round(performance.now() - this.startedMs),
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

  private emit(text: string): void {
    if (text === '') return;
    for (const listener of this.listeners) listener({ text, offset: this.emittedCharacters });
    this.emittedCharacters += text.length;
  }
}
