import { setTimeout as sleep } from 'node:timers/promises';
import { isTerminalFact } from '@rondo/contract';
import { type Delta, type Fact, type RondoClient, call, isDelta, scriptInput } from '@rondo/test-deployment';
import type { Socket } from 'socket.io-client';
import { ask } from '../rondo-system';

export interface Load {
  /** At any time. */
  readonly runs: number;
  /** Of these, with a socket each. */
  readonly watched: number;
  readonly turns: number;
  /** How long the model thinks before each turn, in ms, at random between these. */
  readonly thinksMs: readonly [least: number, most: number];
}

/** What was seen since it was last taken. All times in ms. */
export interface Seen {
  /** From the request for a run to its answer. */
  readonly accepted: number[];
  /** From a fact's own time to its arrival at the socket that watches the run. */
  readonly delivered: number[];
  /** How long the model thought, by the runs that have ended. */
  readonly ended: Map<string, number>;
}

const nothing = (): Seen => ({ accepted: [], delivered: [], ended: new Map() });

/** Runs of which each is followed by another one, and sockets that watch some of them from their beginning to their end. */
export class ManyRuns {
  /** Streams that had a gap or an end of another kind, and requests that failed. */
  readonly faults: string[] = [];
  created = 0;
  private seen = nothing();
  private readonly unwatched = new Map<string, () => void>();
  private isOver = false;
  private readonly lanes: Promise<void>[] = [];

  constructor(
    private readonly clients: readonly RondoClient[],
    private readonly load: Load,
    /** Those of these runs that have ended. */
    private readonly findEnded: (ids: readonly string[]) => Promise<readonly string[]>,
  ) {}

  /** Begins the runs one after the other in this time, so that their turns do not fall together. */
  async start(withinMs: number): Promise<void> {
    void this.lookForEnds();
    for (let lane = 0; lane < this.load.runs; lane += 1) {
      this.lanes.push(this.playLane(lane));
      if (lane % 10 === 9) await sleep((10 * withinMs) / this.load.runs);
    }
  }

  take(): Seen {
    const taken = this.seen;
    this.seen = nothing();
    return taken;
  }

  /** Begins no run any more, and resolves when those that are live have ended. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.lanes);
  }

  private async playLane(lane: number): Promise<void> {
    const client = this.clients[lane % this.clients.length];
    if (!client) throw new Error('there is no gateway');
    const socket = lane < this.load.watched ? client.connect() : undefined;
    while (!this.isOver) {
      try {
        await this.playRun(client, socket);
      } catch (error) {
        this.faults.push(String(error));
        await sleep(1_000);
      }
    }
    socket?.close();
  }

  private async playRun(client: RondoClient, socket: Socket | undefined): Promise<void> {
    const { turns, thinksMs } = this.load;
    const delay = Math.round(thinksMs[0] + Math.random() * (thinksMs[1] - thinksMs[0]));
    const since = performance.now();
    const { id } = await client.createRun({ ...toScript(turns, delay), tools: ['list_commands'] });
    this.seen.accepted.push(performance.now() - since);
    this.created += 1;
    await (socket ? this.watch(socket, id) : new Promise<void>((resolve) => this.unwatched.set(id, resolve)));
    this.seen.ended.set(id, turns * delay);
  }

  private watch(socket: Socket, runId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      let seq = 0;
      const onEvent = (event: Fact | Delta) => {
        if (isDelta(event)) return;
        this.seen.delivered.push(Date.now() - Date.parse(event.at));
        if (event.seq !== ++seq) this.faults.push(`${runId}: ${event.seq} came after ${seq - 1}`);
        if (!isTerminalFact(event)) return;
        socket.off('event', onEvent);
        if (event.type !== 'run.completed') this.faults.push(`${runId}: ${event.type}`);
        resolve();
      };
      socket.on('event', onEvent);
      ask(socket, 'run.subscribe', { run_id: runId, after_seq: 0 }).catch(reject);
    });
  }

  private async lookForEnds(): Promise<void> {
    while (!this.isOver || this.unwatched.size > 0) {
      for (const id of await this.findEnded([...this.unwatched.keys()])) {
        this.unwatched.get(id)?.();
        this.unwatched.delete(id);
      }
      await sleep(1_000);
    }
  }
}

function toScript(turns: number, delay: number) {
  const thinking = { text: 'I look at what runs here. '.repeat(5), delay_ms: delay };
  return scriptInput('Look around.', [
    ...Array.from({ length: turns - 1 }, () => ({ ...thinking, calls: [call('list_commands', {})] })),
    { ...thinking, text: 'Nothing runs here, so there is nothing to do.' },
  ]);
}
