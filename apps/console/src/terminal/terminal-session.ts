import type { CommandEvent, SandboxCommand } from '@rondo/client';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { problemText } from '../ui/problem-text.ts';

/** A command and what became of it. */
export interface TerminalEntry {
  readonly key: number;
  readonly command: string;
  readonly cwd: string;
  readonly output: string;
  /** What is to be said of its end; empty where it went well, and null while it runs. */
  readonly end: string | null;
}

export interface TerminalView {
  readonly entries: readonly TerminalEntry[];
  readonly isRunning: boolean;
  /** Where the next command runs. */
  readonly cwd: string;
}

type Exec = (command: SandboxCommand, signal: AbortSignal) => AsyncIterable<CommandEvent>;
type Ended = Extract<CommandEvent, { type: 'command.ended' }>;

const mostEntries = 100;
const keptCharacters = 200_000;
/** What a command may take at most. */
const timeoutS = 600;

/** The commands of one person in one sandbox, one after the other. */
export class TerminalSession {
  view: TerminalView = { entries: [], isRunning: false, cwd: '/workspace' };
  private readonly listeners = new Set<() => void>();
  private running: AbortController | undefined;
  private count = 0;

  constructor(private readonly exec: Exec) {}

  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Does nothing while another command runs. Resolves once it has ended. */
  async run(command: string): Promise<void> {
    if (this.running) return;
    const running = (this.running = new AbortController());
    const { cwd, entries } = this.view;
    const entry: TerminalEntry = { key: this.count++, command, cwd, output: '', end: null };
    this.change({ isRunning: true, entries: [...entries.slice(1 - mostEntries), entry] });
    const end = await this.follow({ command, cwd, timeout_s: timeoutS }, running.signal).catch((error: unknown) =>
      running.signal.aborted ? '^C' : problemText(error),
    );
    this.running = undefined;
    this.changeNewest(() => ({ end }));
    this.change({ isRunning: false });
  }

  /** Kills the command that runs. */
  interrupt(): void {
    this.running?.abort();
  }

  clear(): void {
    this.change({ entries: this.view.entries.filter(({ end }) => end === null) });
  }

  private async follow(command: SandboxCommand, signal: AbortSignal): Promise<string> {
    for await (const event of this.exec(command, signal)) {
      if (event.type === 'command.output') this.print(event.text);
      if (event.type !== 'command.ended') continue;
      if (event.output_end !== null) this.print(event.output_end);
      if (event.cwd !== null) this.change({ cwd: event.cwd });
      return describeEnd(event);
    }
    return 'It is not known how it ended.';
  }

  private print(text: string): void {
    this.changeNewest(({ output }) => ({ output: `${output}${text}`.slice(-keptCharacters) }));
  }

  private changeNewest(toChange: (newest: TerminalEntry) => Partial<TerminalEntry>): void {
    const { entries } = this.view;
    const newest = entries.at(-1);
    if (newest) this.change({ entries: [...entries.slice(0, -1), { ...newest, ...toChange(newest) }] });
  }

  private change(change: Partial<TerminalView>): void {
    this.view = { ...this.view, ...change };
    for (const listener of this.listeners) listener();
  }
}

function describeEnd({ ending, exit_code: code, detail }: Ended): string {
  if (ending === 'exited') return code === 0 ? '' : `exit code ${code}`;
  return `${sentences[ending]} ${detail ?? ''}`.trim();
}

const sentences: Record<Exclude<Ended['ending'], 'exited'>, string> = {
  timed_out: `It was killed after ${timeoutS / 60} minutes.`,
  output_limit: 'It was killed because it printed too much.',
  out_of_memory: 'It was killed because it needed too much memory.',
  killed: 'It was killed.',
  not_started: 'It did not run.',
  unknown: 'It is not known how it ended.',
};

/** A session for as long as the component is there; the command that runs then is killed. */
export function useTerminalSession(exec: Exec): TerminalSession {
  const [session] = useState(() => new TerminalSession(exec));
  useEffect(() => () => session.interrupt(), [session]);
  return session;
}

/** The same in the sandbox of a thread, which is created where there is none. Undefined for who may not write. */
export function useThreadTerminal(threadId: string): TerminalSession | undefined {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const session = useTerminalSession(async function* (command, signal) {
    const { id } = await rondo.sandboxes.ofThread(threadId, { signal });
    yield* rondo.sandboxes.exec(id, command, { signal });
  });
  return mayWrite ? session : undefined;
}

export const useTerminalView = (session: TerminalSession): TerminalView =>
  useSyncExternalStore(session.subscribe, () => session.view);
