import { type Fact, isFact } from '@rondo/client';
import { isTerminalFact } from '@rondo/contract';
import { EventEmitter, once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { ExaminedRun } from '../test-bed/examine';
import type { TestBed } from '../test-bed/test-bed';

/** What a watcher saw of a run, over all its connections. Emits `fact` for each. */
class Watched extends EventEmitter<{ fact: [fact: Fact] }> {
  readonly facts: Fact[] = [];
  connections = 1;

  add(fact: Fact): void {
    this.facts.push(fact);
    this.emit('fact', fact);
  }
}

/** Follows runs with the client of Rondo's users: over SSE, and after a cut again from the last fact, at the next gateway. */
export class WatchedRuns {
  private readonly seen = new Map<string, Watched>();
  private readonly open: Promise<void>[] = [];
  private readonly over = new AbortController();

  constructor(private readonly testBed: TestBed) {}

  watch(id: string): void {
    const watched = new Watched();
    this.seen.set(id, watched);
    this.open.push(this.follow(id, watched));
  }

  get size(): number {
    return this.seen.size;
  }

  get connections(): number {
    return [...this.seen.values()].reduce((total, { connections }) => total + connections, 0);
  }

  /** Resolves when a fact of this kind was seen, or the run is over. */
  async until(id: string, isIt: (fact: Fact) => boolean): Promise<void> {
    const watched = this.seen.get(id);
    const isEnough = (fact: Fact) => isIt(fact) || isTerminalFact(fact);
    while (watched && !watched.facts.some(isEnough)) await once(watched, 'fact');
  }

  /** Resolves when every stream has ended. Those that have not after `withinMs` are closed. */
  async ended(withinMs: number): Promise<void> {
    const timer = setTimeout(() => this.over.abort(), withinMs);
    await Promise.all(this.open);
    clearTimeout(timer);
  }

  /** How streams differ from the logs of their runs. */
  flaws(runs: readonly ExaminedRun[]): string[] {
    return runs.flatMap(({ id, facts: log }) => {
      const facts = this.seen.get(id)?.facts ?? [];
      const length = Math.max(log.length, facts.length);
      const at = Array.from({ length }).findIndex((_, index) => !isDeepStrictEqual(log[index], facts[index]));
      return at < 0 ? [] : [`${id}: the stream differs from the log at seq ${at + 1}: ${JSON.stringify(facts[at])}`];
    });
  }

  private async follow(id: string, watched: Watched): Promise<void> {
    const { signal } = this.over;
    const onCut = () => void (watched.connections += 1);
    try {
      for await (const event of this.testBed.client.runs.stream(id, { signal, onCut })) {
        if (isFact(event)) watched.add(event);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
