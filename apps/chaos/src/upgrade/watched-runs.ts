import { isTerminalFact } from '@rondo/contract';
import type { Fact } from '@rondo/test-deployment';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ExaminedRun } from '../test-bed/examine';
import type { TestBed } from '../test-bed/test-bed';

const reconnectAfterMs = 250;

/** What a watcher saw of a run, over all its connections. Emits `fact` for each. */
class Watched extends EventEmitter<{ fact: [fact: Fact] }> {
  readonly facts: Fact[] = [];
  connections = 0;

  add(fact: Fact): void {
    this.facts.push(fact);
    this.emit('fact', fact);
  }
}

/** Follows runs as a browser does: over SSE, and after a cut again from the last fact, at the next gateway. */
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
    const gateways = this.testBed.instances('gateway').map(({ name }) => this.testBed.rondo.client(name));
    for (let turn = 0; !this.over.signal.aborted; turn += 1) {
      const { url, key } = gateways[turn % gateways.length] ?? this.testBed.rondo.client();
      const isOver = await this.read({ url: `${url}/v1/runs/${id}/stream`, key }, watched).catch(() => false); // cut off
      if (isOver) return;
      await delay(reconnectAfterMs);
    }
  }

  /** Resolves to whether the run is over. */
  private async read({ url, key }: { url: string; key: string }, watched: Watched): Promise<boolean> {
    const last = watched.facts.at(-1);
    const response = await fetch(url, {
      headers: { Authorization: `Bearer ${key}`, ...(last && { 'Last-Event-ID': String(last.seq) }) },
      signal: this.over.signal,
    });
    if (!response.ok || !response.body) return false;
    watched.connections += 1;
    for await (const fact of factsIn(response.body)) {
      watched.add(fact);
      if (isTerminalFact(fact)) return true;
    }
    return false;
  }
}

/** Deltas have no number and are left out. */
async function* factsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<Fact> {
  let rest = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: ?(.*)$/m.exec(block)?.[1];
      const event = data === undefined ? undefined : (JSON.parse(data) as Fact | { seq: null }); // any other shape differs from the log
      if (typeof event?.seq === 'number') yield event;
    }
  }
}
