import { type Fact, type Rondo, type RunView, type StreamEvent, isFact } from '@rondo/client';
import { useMemo, useRef, useSyncExternalStore } from 'react';
import type { RunDetails } from './run-details.ts';
import { RunRecord, RunHistory } from './run-record.ts';
import { useRondo } from '../session/use-session.ts';

/** What the page of a run shows. */
export interface FedRun {
  readonly view: RunView;
  readonly details: RunDetails;
  /**
   * All facts that were read, in order. The same array, which grows: `view.lastSeq` says how far. Another one once some are not
   * in the log any more.
   */
  readonly facts: readonly Fact[];
  readonly connection: 'connecting' | 'live' | 'cut' | 'ended';
  readonly error: unknown;
}

/** Listeners hear of changes at most once in this time. */
const frameMs = 16;
/** They rest so many times longer than the last change took them: a page that catches up with a long log would else mostly render. */
const restTimes = 6;

/** A run as something to subscribe to, with all of its facts, which the scrubber and the proof need. */
export class RunFeed {
  private readonly record = new RunRecord();
  private facts: Fact[] = [];
  private readonly listeners = new Set<() => void>();
  private reading: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private restMs = frameMs;
  private connection: FedRun['connection'] = 'connecting';
  private error: unknown = null;
  private state: FedRun = this.toFedRun();

  constructor(
    private readonly rondo: Rondo,
    private readonly runId: string,
  ) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.watchVisibility();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.pause();
    };
  };

  /** The same object until something changes. */
  readonly current = (): FedRun => this.state;

  /** A hidden tab holds no connection, because browsers open only six to a server, for all tabs together. */
  private watchVisibility(): void {
    document.addEventListener('visibilitychange', this.follow);
    this.follow();
  }

  private readonly follow = (): void => {
    if (document.hidden) this.reading?.abort();
    else if (this.connection !== 'ended' && (!this.reading || this.reading.signal.aborted)) void this.read();
  };

  private pause(): void {
    document.removeEventListener('visibilitychange', this.follow);
    this.reading?.abort();
    this.reading = undefined;
  }

  private async read(): Promise<void> {
    const reading = new AbortController();
    this.reading = reading;
    const { signal } = reading;
    const onCut = () => this.show('cut');
    try {
      const { lastSeq: after, lastEpoch: afterEpoch } = this.record;
      const options = { after, afterEpoch, signal, onCut };
      for await (const events of this.rondo.runs.streamGroups(this.runId, options)) {
        for (const event of events) this.take(event);
        this.show('live');
      }
      this.show('ended');
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
      this.show('ended');
    }
  }

  private take(event: StreamEvent): void {
    if (event.type === 'stream.rewound') {
      this.facts = this.facts.filter(({ seq }) => seq < event.data.from);
      this.record.rewind(event, this.facts);
      return;
    }
    if (isFact(event) && event.seq > this.record.lastSeq) this.facts.push(event);
    this.record.apply(event);
  }

  private show(connection: FedRun['connection']): void {
    this.connection = connection;
    if (connection !== 'ended') {
      this.timer ??= setTimeout(this.publish, this.restMs);
      return;
    }
    clearTimeout(this.timer);
    this.publish();
  }

  private readonly publish = (): void => {
    this.timer = undefined;
    this.state = this.toFedRun();
    const began = performance.now();
    for (const listener of this.listeners) listener();
    queueMicrotask(() => {
      this.restMs = Math.max(frameMs, restTimes * (performance.now() - began)); // React has rendered
    });
  };

  private toFedRun(): FedRun {
    const { view, details } = this.record;
    return { view, details, facts: this.facts, connection: this.connection, error: this.error };
  }
}

interface Past extends Pick<FedRun, 'facts'> {
  readonly seq: number;
  readonly shown: Pick<FedRun, 'view' | 'details'>;
}

/** The run of a page: as it is now, or as it was at `seq`. */
export function useRunFeed(
  runId: string,
  seq: number | undefined,
): { now: FedRun; shown: Pick<FedRun, 'view' | 'details'> } {
  const rondo = useRondo();
  const feed = useMemo(() => new RunFeed(rondo, runId), [rondo, runId]);
  const now = useSyncExternalStore(feed.subscribe, feed.current);
  const { facts } = now;
  const history = useMemo(() => new RunHistory(), [facts]);
  const past = useRef<Past | null>(null);
  if (seq === undefined || seq >= now.view.lastSeq) return { now, shown: now };

  if (past.current?.seq !== seq || past.current.facts !== facts || past.current.shown.view.lastSeq === 0) {
    const { view, details } = history.at(seq, facts);
    past.current = { seq, facts, shown: { view, details } };
  }
  return { now, shown: past.current.shown };
}
