import type { RunObserver } from './run-observer';

export interface CrashPoint {
  readonly name: string;
  readonly victim: 'agent-worker' | 'tool-executor' | 'gateway';
  /** Resolves when the observed run is there. `signal` sends the victim a signal before the kill. */
  readonly reached: (observer: RunObserver, signal: (name: NodeJS.Signals) => Promise<void>) => Promise<unknown>;
  /** The kill follows after a random delay of at most this. */
  readonly spreadMs?: number;
}

/** The model's text before its first calls. */
export const firstWords = 'We go on, one step at a time. '.repeat(4);

/** In the order in which a run reaches them. */
export const crashPoints: readonly CrashPoint[] = [
  { name: 'before the outbox is published', victim: 'gateway', reached: () => Promise.resolve(), spreadMs: 25 },
  { name: 'after the outbox was published', victim: 'gateway', reached: (observer) => observer.fact('run.created') },
  { name: 'before the claim', victim: 'agent-worker', reached: (observer) => observer.fact('run.created') },
  { name: 'after the claim', victim: 'agent-worker', reached: (observer) => observer.fact('run.started') },
  { name: 'before the model call', victim: 'agent-worker', reached: (observer) => observer.fact('iteration.started') },
  {
    name: 'during the model call',
    victim: 'agent-worker',
    reached: (observer) => observer.delta('message.delta'),
    spreadMs: 40,
  },
  {
    name: 'before the plan is appended',
    victim: 'agent-worker',
    reached: (observer) => observer.textReached(firstWords.length),
  },
  { name: 'after the plan was appended', victim: 'agent-worker', reached: (observer) => observer.fact('tool.planned') },
  { name: 'at the dispatch', victim: 'agent-worker', reached: (observer) => observer.fact('tool.started') },
  { name: 'before the effect', victim: 'tool-executor', reached: (observer) => observer.delta('tool.output') },
  {
    name: 'at the effect, executor killed',
    victim: 'tool-executor',
    reached: (observer) => observer.effect('arrived'),
  },
  {
    name: 'after the effect, executor killed',
    victim: 'tool-executor',
    reached: (observer) => observer.effect('applied'),
  },
  {
    name: 'after the effect, worker killed',
    victim: 'agent-worker',
    reached: (observer) => observer.effect('applied'),
  },
  {
    name: 'before the result is appended',
    victim: 'agent-worker',
    reached: (observer) => observer.effect('replied'),
    spreadMs: 15,
  },
  {
    name: 'after the result was appended',
    victim: 'agent-worker',
    reached: (observer) => observer.fact('tool.completed'),
  },
  {
    name: 'before the hand-over',
    victim: 'agent-worker',
    reached: async (observer, signal) => {
      await observer.fact('tool.started');
      await signal('SIGTERM');
    },
    spreadMs: 30,
  },
  {
    name: 'at the hand-over',
    victim: 'agent-worker',
    reached: async (observer, signal) => {
      await observer.fact('tool.started');
      await signal('SIGTERM');
      await observer.fact('iteration.completed');
    },
  },
];
