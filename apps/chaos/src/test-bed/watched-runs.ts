import { type Fact, isDelta, isFact } from '@rondo/client';
import { isTerminalFact } from '@rondo/contract';
import { EventEmitter, once, setMaxListeners } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { ExaminedRun } from './examine';
import { isGone } from './patient-client';
import type { TestBed } from './test-bed';

/** What a watcher saw of a run, over all its connections. Emits `fact` for each. */
class Watched extends EventEmitter<{ fact: [fact: Fact] }> {
  /** Without those that were taken back. */
  readonly facts: Fact[] = [];
  /** When something of the run came, a fact or a piece of a reply, by the clock of this process. */
  readonly arrivals: number[] = [];
  /** From where on the stream was rewound. */
  readonly rewinds: number[] = [];
  connections = 1;
  takenBack = 0;
  /** The gateway does not know the run any more. */
  isGone = false;

  add(fact: Fact): void {
    this.facts.push(fact);
    this.emit('fact', fact);
  }

  /** Forgets the facts from this one on, if their epochs are below. Whether there were any. */
  takeBack(from: number, below = Infinity): boolean {
    const at = this.facts.findIndex(({ seq, epoch }) => seq >= from && epoch < below);
    if (at >= 0) this.takenBack += this.facts.splice(at).length;
    return at >= 0;
  }
}

/** Follows runs with the client of Rondo's users: over SSE, and after a cut again from the last fact, at the next gateway. */
export class WatchedRuns {
  private readonly seen = new Map<string, Watched>();
  private readonly open: Promise<void>[] = [];
  private readonly over = new AbortController();

  constructor(private readonly testBed: TestBed) {
    setMaxListeners(0, this.over.signal); // every open stream listens to it
  }

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
  async waitForEnds(withinMs: number): Promise<void> {
    const timer = setTimeout(() => this.over.abort(), withinMs);
    await Promise.all(this.open);
    clearTimeout(timer);
  }

  /** How many facts were taken back, and how many runs are gone that had been accepted. */
  get lost(): { facts: number; runs: number } {
    const all = [...this.seen.values()];
    return {
      facts: all.reduce((total, { takenBack }) => total + takenBack, 0),
      runs: all.filter(({ isGone }) => isGone).length,
    };
  }

  /**
   * Asks REST what was rewound, as a client does whose stream had ended before, and follows such runs again. Resolves with
   * the rewinds of streams that REST does not tell.
   */
  async readRewinds(): Promise<string[]> {
    const untold: string[] = [];
    for (const [id, watched] of this.seen) {
      if (watched.isGone) continue;
      const { rewinds = [] } = await this.testBed.client.runs.verification(id);
      const isTold = (place: number) => rewinds.some(({ from }) => from <= place);
      untold.push(...watched.rewinds.filter((place) => !isTold(place)).map((place) => `${id} from ${place}`));
      const isStale = rewinds.map(({ from, epoch }) => watched.takeBack(from, epoch)).some(Boolean);
      if (isStale) this.open.push(this.follow(id, watched));
    }
    return untold;
  }

  /** For each run that was live at this moment: the longest silence of its stream, in ms, that began at most `forMs` later. */
  standstills(moment: number, forMs: number): number[] {
    return [...this.seen.values()].flatMap(({ arrivals }) => {
      const gaps = arrivals.flatMap((to, index) => {
        const from = arrivals[index - 1] ?? Infinity;
        return from <= moment + forMs && to > moment ? [to - from] : [];
      });
      return (arrivals[0] ?? Infinity) <= moment && gaps.length > 0 ? [Math.max(...gaps)] : [];
    });
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
    const last = watched.facts.at(-1);
    const place = last ? { after: last.seq, afterEpoch: last.epoch } : {};
    try {
      for await (const event of this.testBed.client.runs.stream(id, { signal, onCut, ...place })) {
        if (isFact(event) || isDelta(event)) watched.arrivals.push(Date.now());
        if (isFact(event)) watched.add(event);
        if (event.type !== 'stream.rewound') continue;
        watched.rewinds.push(event.data.from);
        watched.takeBack(event.data.from);
      }
    } catch (error) {
      watched.isGone = isGone(error);
      if (!signal.aborted && !watched.isGone) throw error;
    }
  }
}
