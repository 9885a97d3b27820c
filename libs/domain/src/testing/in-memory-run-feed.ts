import type { RunEvent, RunId } from '@rondo/contract';
import type { RunFeed, RunWatch } from '../ports';
import { eventJson } from '../run/event-json';

interface Watch {
  readonly runId: RunId;
  readonly onEvent: (event: RunEvent, json: string) => void;
}

/** How many characters of events are kept without a connection. */
export const keptCharacters = 10_000;

/** A run feed in memory, as one process has it: `connect` makes another process's. Events arrive before `publish` returns. */
export class InMemoryRunFeed implements RunFeed {
  private readonly watches = new Set<Watch>();
  private kept: RunEvent[] = [];
  private connected = true;

  constructor(private readonly feeds = new Set<InMemoryRunFeed>()) {
    feeds.add(this);
  }

  connect(): InMemoryRunFeed {
    return new InMemoryRunFeed(this.feeds);
  }

  /** Loses the connection: nothing is received, and the newest events are kept until it is back. */
  disconnect(): void {
    this.connected = false;
  }

  reconnect(): void {
    this.connected = true;
    this.publish(this.kept.splice(0));
  }

  get isWatched(): boolean {
    return [...this.feeds].some(({ watches }) => watches.size > 0);
  }

  publish(events: readonly RunEvent[]): void {
    if (!this.connected) this.keep(events);
    else for (const event of events) this.feeds.forEach((feed) => feed.receive(event));
  }

  watch(runId: RunId, onEvent: Watch['onEvent']): RunWatch {
    const watch = { runId, onEvent };
    this.watches.add(watch);
    return {
      ready: () => new Promise((resolve) => setImmediate(resolve)),
      stop: () => void this.watches.delete(watch),
    };
  }

  private receive(event: RunEvent): void {
    if (!this.connected) return;
    for (const { runId, onEvent } of this.watches) if (runId === event.run_id) onEvent(event, eventJson(event));
  }

  private keep(events: readonly RunEvent[]): void {
    this.kept.push(...events);
    let characters = this.kept.reduce((sum, event) => sum + eventJson(event).length, 0);
    while (characters > keptCharacters) characters -= measureLength(this.kept.shift());
  }
}

const measureLength = (event: RunEvent | undefined): number => (event ? eventJson(event).length : Infinity);
