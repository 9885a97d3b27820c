import type { Watch } from './watch';

export interface CrashPoint {
  readonly name: string;
  readonly victim: 'agent-worker' | 'tool-executor' | 'gateway';
  /** Resolves when the watched run is there. `tell` sends the victim a milder signal first. */
  readonly reached: (watch: Watch, tell: (signal: NodeJS.Signals) => Promise<void>) => Promise<unknown>;
  /** The kill comes at random up to so much later. */
  readonly spreadMs?: number;
}

/** What the model says before its first calls. */
export const firstWords = 'We go on, one step at a time. '.repeat(4);

/** In the order in which a run comes by. */
export const crashPoints: readonly CrashPoint[] = [
  { name: 'before the outbox is published', victim: 'gateway', reached: () => Promise.resolve(), spreadMs: 25 },
  { name: 'after the outbox was published', victim: 'gateway', reached: (watch) => watch.fact('run.created') },
  { name: 'before the claim', victim: 'agent-worker', reached: (watch) => watch.fact('run.created') },
  { name: 'after the claim', victim: 'agent-worker', reached: (watch) => watch.fact('run.started') },
  { name: 'before the model call', victim: 'agent-worker', reached: (watch) => watch.fact('iteration.started') },
  {
    name: 'during the model call',
    victim: 'agent-worker',
    reached: (watch) => watch.delta('message.delta'),
    spreadMs: 40,
  },
  { name: 'before the plan is appended', victim: 'agent-worker', reached: (watch) => watch.said(firstWords.length) },
  { name: 'after the plan was appended', victim: 'agent-worker', reached: (watch) => watch.fact('tool.planned') },
  { name: 'at the dispatch', victim: 'agent-worker', reached: (watch) => watch.fact('tool.started') },
  { name: 'before the effect', victim: 'tool-executor', reached: (watch) => watch.delta('tool.output') },
  { name: 'at the effect, hands killed', victim: 'tool-executor', reached: (watch) => watch.effect('arrived') },
  { name: 'after the effect, hands killed', victim: 'tool-executor', reached: (watch) => watch.effect('applied') },
  { name: 'after the effect, mind killed', victim: 'agent-worker', reached: (watch) => watch.effect('applied') },
  {
    name: 'before the result is appended',
    victim: 'agent-worker',
    reached: (watch) => watch.effect('replied'),
    spreadMs: 15,
  },
  { name: 'after the result was appended', victim: 'agent-worker', reached: (watch) => watch.fact('tool.completed') },
  {
    name: 'before the hand-over',
    victim: 'agent-worker',
    reached: async (watch, tell) => {
      await watch.fact('tool.started');
      await tell('SIGTERM');
    },
    spreadMs: 30,
  },
  {
    name: 'at the hand-over',
    victim: 'agent-worker',
    reached: async (watch, tell) => {
      await watch.fact('tool.started');
      await tell('SIGTERM');
      await watch.fact('iteration.completed');
    },
  },
];
