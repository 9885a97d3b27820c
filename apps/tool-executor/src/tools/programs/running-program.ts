import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProgramAnswer, type ProgramRequest, programLimits } from '@rondo/contract';
import { type CommandOutcome, type Sandbox, SandboxError } from '../../sandboxes';
import { shellQuoted } from '../shell/tool-commands';
import { BrokenMessage, ProgramOutput } from './program-output';

export interface ProgramSource {
  readonly language: 'node' | 'python';
  readonly source: string;
}

export interface ProgramPlace {
  readonly sandbox: Pick<Sandbox, 'start' | 'read' | 'write' | 'terminate'>;
  readonly callId: string;
  readonly attempt: number;
  readonly run: string;
}

/** Where a program is after a while: it waits for calls, has ended, or does something else than it did before. */
export type ProgramStep =
  | { readonly how: 'calls'; readonly requests: readonly ProgramRequest[] }
  | { readonly how: 'ended'; readonly outcome: CommandOutcome; readonly printed: string; readonly returned: unknown }
  | { readonly how: 'broken'; readonly reason: string; readonly printed: string };

const readHelper = (name: string): string => readFileSync(join(__dirname, 'in-sandbox', name), 'utf8');

const starters = {
  node: { program: 'node -e', helper: readHelper('program.cjs') },
  python: { program: 'python3 -c', helper: readHelper('program.py') },
} as const;

/** A repeated program would repeat its own requests: those of its tools are made once. */
const setUp = [
  'cd /workspace',
  'unset HTTP_PROXY HTTPS_PROXY http_proxy https_proxy NODE_USE_ENV_PROXY',
  'export PYTHONHASHSEED=0',
  'exec 3<&0 4>&1 </dev/null',
].join('\n');

const writtenBytes = 60_000;
const output = { keepBytes: 1024 * 1024, maxOutputBytes: 32 * 1024 * 1024 };
const pauses = { first: 5, longest: 100 };

/** A program as a command in a session of its own, which waits for answers on its standard input. */
export class RunningProgram {
  private readonly output: ProgramOutput;
  private readonly asked: Omit<ProgramRequest, 'position'>[] = [];
  private told = 0;
  private offset = 0;
  private returned: unknown;

  private constructor(
    private readonly place: ProgramPlace,
    mark: string,
  ) {
    this.output = new ProgramOutput(mark);
  }

  static async start(place: ProgramPlace, { language, source }: ProgramSource): Promise<RunningProgram> {
    const mark = `${randomBytes(12).toString('hex')} `;
    const program = new RunningProgram(place, mark);
    const { program: starter, helper } = starters[language];
    const command = `${setUp}\nexec ${starter} ${shellQuoted(helper)} ${shellQuoted(mark)}`;
    const id = `${place.callId}:${mark.trim()}`; // the same attempt never gets the process of another
    await program.end(); // one that an earlier attempt has left
    await place.sandbox.start({ id, session: program.session, run: place.run, command, openInput: true, ...output });
    await program.write({ source, at_once: programLimits.callsAtOnce });
    return program;
  }

  get printed(): string {
    return this.output.printed;
  }

  /** Whether it still waits. */
  async isWaiting(): Promise<boolean> {
    const view = await this.place.sandbox.read(this.session, this.offset).catch(asAbsent);
    return view?.running === true;
  }

  /** Goes on with the answers, until it waits for a call that has none. Rejects with the reason of the signal. */
  async advance(answers: readonly ProgramAnswer[], signal: AbortSignal): Promise<ProgramStep> {
    try {
      for (;;) {
        const differing = this.findDifference(answers);
        if (differing !== undefined) return this.broken(differing);
        if (this.asked.length > answers.length) return { how: 'calls', requests: this.listRequests(answers.length) };
        if (this.told < this.asked.length) await this.tell(answers);
        const outcome = await this.readMessage(signal);
        if (outcome) return { how: 'ended', outcome, printed: this.printed, returned: this.returned };
        if (this.asked.length > programLimits.calls)
          return this.broken(`It made more than ${programLimits.calls} calls.`);
      }
    } catch (error) {
      if (error instanceof BrokenMessage) return this.broken(error.message);
      throw error;
    }
  }

  /** Resolves when no process of it is alive. */
  async end(): Promise<void> {
    await this.place.sandbox.terminate(this.session).catch(asAbsent);
  }

  private get session(): string {
    return `rondo:${this.place.callId}`;
  }

  private broken(reason: string): ProgramStep {
    return { how: 'broken', reason, printed: this.printed };
  }

  private listRequests(from: number): ProgramRequest[] {
    return this.asked.slice(from).map((request, index) => ({ ...request, position: from + index }));
  }

  private findDifference(answers: readonly ProgramAnswer[]): string | undefined {
    const at = this.asked.findIndex(({ digest }, index) => answers[index] && answers[index].digest !== digest);
    const name = this.asked[at]?.name;
    return (
      name && `Run again from its start, it made another call than before: its call ${at + 1} is now one of ${name}.`
    );
  }

  private async tell(answers: readonly ProgramAnswer[]): Promise<void> {
    const news = answers.slice(this.told, this.asked.length).map(({ digest: _, ...answer }) => answer);
    this.told = this.asked.length;
    await this.write(news);
  }

  /** Its input takes only so much at a time. A program that has died reads nothing; then its end is found. */
  private async write(message: object): Promise<void> {
    const line = `${JSON.stringify(message).replaceAll(/[\u007f-\uffff]/g, escapeCharacter)}\n`;
    try {
      for (let at = 0; at < line.length; at += writtenBytes)
        await this.place.sandbox.write(this.session, line.slice(at, at + writtenBytes));
    } catch (error) {
      if (!(error instanceof SandboxError) || error.code === 'lost') throw error;
    }
  }

  /** Reads on until there is a request, or the end. */
  private async readMessage(signal: AbortSignal): Promise<CommandOutcome | undefined> {
    for (let pause = pauses.first; ; pause = Math.min(pause * 2, pauses.longest)) {
      if (this.takeRequests()) return undefined;
      signal.throwIfAborted();
      const view = await this.place.sandbox.read(this.session, this.offset);
      this.offset = view.nextOffset;
      this.output.push(view.output);
      if (this.takeRequests()) return undefined;
      if (view.outcome) return view.outcome;
      if (view.output !== '') pause = pauses.first;
      await sleep(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  private takeRequests(): boolean {
    const message = this.output.messages.shift();
    if (!message) return false;
    if ('end' in message) {
      this.returned = message.end;
      return this.takeRequests();
    }
    this.asked.push(...message.calls.map((call) => ({ ...call, digest: toDigest(call) })));
    return true;
  }
}

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const toDigest = (call: Pick<ProgramRequest, 'name' | 'arguments'>): string =>
  createHash('sha256').update(JSON.stringify(call, sortKeys)).digest('hex').slice(0, 32);

const sortKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

function asAbsent(error: unknown): undefined {
  if (!(error instanceof SandboxError && error.code === 'not_found')) throw error;
  return undefined;
}
