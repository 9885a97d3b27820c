import {
  type Approval,
  type HandledTools,
  type Message,
  type Rondo,
  RondoError,
  type Run,
  RunWatch,
  type WatchedRun,
  describeEnding,
  isOver,
  take,
} from '@rondo/client';
import type { Turn } from './message-rows.ts';
import { type ThreadView, pickRun, toThreadView } from './thread-view.ts';

/** A conversation as a page shows it. The same object until something changes. */
export interface WatchedThread {
  /** Null until the first message is sent. */
  readonly threadId: string | null;
  /** Whether the history is being read for the first time. */
  readonly isLoading: boolean;
  /** What was said and done, in order; the turn of the run that goes on grows. */
  readonly turns: readonly Turn[];
  /** Whether older messages of the thread are left out: a long one shows its newest 2,000 until more are asked for. */
  readonly hasOlder: boolean;
  /** The runs of these turns that did not complete, by their ids. */
  readonly endings: ThreadView['endings'];
  /** What edited questions said before, by the id of the question that is asked now. */
  readonly former: ThreadView['former'];
  /** The newest question, which can be edited. */
  readonly question: Message | undefined;
  /** The active run; without one, the newest. */
  readonly run: Run | undefined;
  /** That run as its events show it, and whether they arrive. */
  readonly live: WatchedRun | null;
  /** Whether that run works or waits. */
  readonly isActive: boolean;
  /** Runs that wait for their turn. */
  readonly queued: readonly Run[];
  /** Calls that a person decides about. */
  readonly approvals: readonly Approval[];
  /** Why the thread cannot be read; it is read again. */
  readonly error: Error | null;
}

/** Another page may add to a thread, and a queued run may begin. */
const refreshMs = 3_000;
const messagesAtOnce = 2_000;
const mostRuns = 100;

const empty: WatchedThread = {
  ...{ threadId: null, isLoading: false, turns: [], endings: new Map(), former: new Map(), question: undefined },
  ...{ hasOlder: false, run: undefined, live: null, isActive: false, queued: [], approvals: [], error: null },
};

/** A thread as something to subscribe to: its history, and the run that is active or the newest, live. */
export class ThreadWatch {
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stored: ThreadView | undefined;
  /** Of the runs that the messages were read with: they are read again when it changes. */
  private version = '';
  private mostMessages = messagesAtOnce;
  private followed: RunWatch | undefined;
  private leave: (() => void) | undefined;
  private approvalIds: readonly string[] = [];
  private reading: Promise<void> | undefined;
  private state: WatchedThread;

  constructor(
    private readonly rondo: Rondo,
    threadId: string | null,
    /** Of the caller. They are run while there are subscribers. */
    private readonly tools: HandledTools = {},
  ) {
    this.state = { ...empty, threadId, isLoading: threadId !== null };
  }

  readonly current = (): WatchedThread => this.state;

  /** Returns what ends the subscription. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    if (this.listeners.size === 1) void this.refresh();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.pause();
    };
  };

  /** Reads the thread now; with an id, that of the thread that the first message began. Resolves when it is shown. */
  async refresh(threadId?: string): Promise<void> {
    if (threadId !== undefined && this.state.threadId === null) this.state = { ...this.state, threadId };
    this.version = '';
    const before = this.reading; // what it reads may be older than what the caller has changed
    this.reading = (async () => {
      await before;
      await this.read();
    })();
    await this.reading;
  }

  /** Resolves when more of the older messages are shown. */
  async loadOlder(): Promise<void> {
    this.mostMessages += messagesAtOnce;
    await this.refresh();
  }

  private pause(): void {
    clearTimeout(this.timer);
    this.leave?.();
    this.leave = undefined;
  }

  private async read(): Promise<void> {
    clearTimeout(this.timer);
    const { threadId } = this.state;
    if (threadId === null || this.isPaused()) return;
    try {
      await this.readStored(threadId);
      if (this.state.error) this.show({ error: null });
    } catch (cause) {
      this.show({ error: toError(cause), isLoading: false });
      if (isFinal(cause)) return;
    }
    if (this.isPaused()) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.reading = this.read();
    }, refreshMs);
  }

  private isPaused(): boolean {
    return this.listeners.size === 0;
  }

  private async readStored(threadId: string): Promise<void> {
    const { items: runs } = await take(this.rondo.runs.list({ thread_id: threadId, limit: mostRuns }), mostRuns);
    const version = JSON.stringify(runs.map(({ id, status }) => [id, status]));
    const run = pickRun(runs);
    if (this.isPaused()) return;
    if (version === this.version) {
      this.follow(run?.id);
      return;
    }
    const newestFirst = this.rondo.threads.messages(threadId, { limit: 200, order: 'desc' });
    const { items, hasMore: hasOlder } = await take(newestFirst, this.mostMessages);
    if (this.isPaused()) return;
    this.version = version;
    this.stored = toThreadView(items.toReversed(), { run, runs, older: [] });
    this.follow(run?.id);
    this.show({ isLoading: false, hasOlder });
  }

  /** Also again, where the watch ended before the run did. */
  private follow(runId: string | undefined): void {
    const isSame = this.followed?.runId === runId;
    const isCut = this.followed !== undefined && this.followed.current().error !== null;
    if (isSame && !isCut && (this.leave || runId === undefined)) return;
    this.leave?.();
    this.leave = undefined;
    const watch = isSame || runId === undefined ? this.followed : new RunWatch(this.rondo.runs, runId, this.tools);
    this.followed = runId === undefined ? undefined : watch;
    if (this.followed) this.leave = this.followed.subscribe(this.onChange);
  }

  private readonly onChange = (): void => {
    const { isOver: wasOver = false } = this.state.live?.view ?? {};
    this.show({});
    const view = this.state.live?.view;
    if (view?.isOver && !wasOver) void this.refresh();
    void this.readApprovals(view?.waiting?.approvals?.map(({ approval_id: id }) => id) ?? []);
  };

  /** What the calls would be sent with, and the hash of it that a decision names. */
  private async readApprovals(ids: readonly string[]): Promise<void> {
    if (ids.join() === this.approvalIds.join()) return;
    this.approvalIds = ids;
    try {
      const approvals = await Promise.all(ids.map((id) => this.rondo.approvals.get(id)));
      if (this.approvalIds === ids) this.show({ approvals: approvals.filter(({ outcome }) => outcome === null) });
    } catch (cause) {
      if (this.approvalIds === ids) this.approvalIds = [];
      this.show({ error: toError(cause) });
    }
  }

  private show(change: Partial<WatchedThread>): void {
    const { stored } = this;
    const live = this.followed?.current() ?? null;
    const run = stored?.run;
    const isActive = run !== undefined && !isOver(run) && !live?.view.isOver;
    this.state = {
      ...this.state,
      ...(stored && toShown(stored, live)),
      ...{ run, live, isActive },
      ...(!isActive && { approvals: [] }),
      ...change,
    };
    for (const listener of this.listeners) listener();
  }
}

/** The stored turns, and in their midst the run as its events show it, whose messages are not shown twice. */
function toShown(stored: ThreadView, live: WatchedRun | null) {
  const { run, before, after, endings, former, question, queued } = stored;
  const rows = live?.view.rows ?? [];
  const known = new Set(rows.map(({ id }) => id));
  const others = (turns: readonly Turn[]) =>
    turns.map((turn) => ({ ...turn, rows: turn.rows.filter(({ id }) => !known.has(id)) }));
  const turns = [...others(before), ...(run ? [{ runId: run.id, rows }] : []), ...others(after)];
  return { turns, former, question, queued, endings: withEnding(endings, { run, live }) };
}

function withEnding(
  endings: ThreadView['endings'],
  { run, live }: { readonly run: Run | undefined; readonly live: WatchedRun | null },
): ThreadView['endings'] {
  if (!run || !live?.view.isOver) return endings;
  const { status, finishReason: finish_reason, failure } = live.view;
  const ended = { id: run.id, status, finish_reason, error: failure };
  return describeEnding(ended)?.outcome === 'done' ? endings : new Map([...endings, [run.id, ended]]);
}

const toError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)));

/** Whether it would be refused again. */
const isFinal = (cause: unknown): boolean => cause instanceof RondoError && cause.status < 500 && cause.status !== 429;
