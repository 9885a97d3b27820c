import fc from 'fast-check';

/** A run that a user creates. */
export interface RunPlan {
  readonly thread: number;
  readonly atMs: number;
  /** Decides the model's replies and the run's settings. */
  readonly seed: number;
  /** When a user stops it, if ever. */
  readonly stopAtMs: number | undefined;
}

/**
 * A fault. `which` is the number of a process; `nth` counts the operations of that kind, from 0; times are milliseconds since
 * the world began.
 */
export type Fault =
  | { readonly kind: 'worker dies'; readonly which: number; readonly atMs: number; readonly forMs: number }
  /** The worker dies just before or after a write of it is committed. */
  | { readonly kind: 'worker dies at write'; readonly nth: number; readonly side: 'before' | 'after' }
  /** SIGSTOP and SIGCONT. */
  | { readonly kind: 'worker pauses'; readonly which: number; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'worker pauses at write'; readonly nth: number; readonly forMs: number }
  /** A deployment: the worker hands over its runs, and a new worker replaces it. */
  | { readonly kind: 'worker leaves'; readonly which: number; readonly atMs: number }
  | { readonly kind: 'executor dies'; readonly which: number; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'executor dies at call'; readonly nth: number; readonly point: ExecutorPoint }
  | { readonly kind: 'executor pauses'; readonly which: number; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'summarizer dies'; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'summarizer pauses'; readonly atMs: number; readonly forMs: number }
  /** A request to the database is lost, its answer is lost, or it arrives late. */
  | { readonly kind: 'store request'; readonly nth: number; readonly fate: 'lost' | 'answer lost' | 'late' }
  | { readonly kind: 'store away'; readonly atMs: number; readonly forMs: number }
  | { readonly kind: 'queue flushed'; readonly atMs: number }
  | { readonly kind: 'job'; readonly nth: number; readonly fate: MessageFate }
  | { readonly kind: 'stop signal'; readonly nth: number; readonly fate: MessageFate }
  /** Calls, results and cancellations in transit. */
  | { readonly kind: 'tool message'; readonly nth: number; readonly fate: MessageFate }
  | { readonly kind: 'bus away'; readonly atMs: number; readonly forMs: number }
  /** The bus loses its data. */
  | { readonly kind: 'bus forgets'; readonly atMs: number };

export type MessageFate = 'lost' | 'twice' | 'late';
export type ExecutorPoint = 'before the effect' | 'after the effect' | 'after the reply';

/** Everything that a world depends on. */
export interface Schedule {
  readonly seed: number;
  readonly runs: readonly RunPlan[];
  readonly faults: readonly Fault[];
}

const time = fc.integer({ min: 0, max: 30_000 });
const ordinal = fc.integer({ min: 0, max: 40 });
const process = fc.integer({ min: 0, max: 2 });
const duration = fc.integer({ min: 100, max: 40_000 });
/** Longer than a lease, so that another worker has claimed the run when it ends. */
const longPause = fc.integer({ min: 15_000, max: 40_000 });
const fate = fc.constantFrom<MessageFate[]>('lost', 'twice', 'late');
const kind = <const Kind extends string>(name: Kind) => fc.constant<Kind>(name);

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: kind('worker dies'), which: process, atMs: time, forMs: duration }),
  fc.record({
    kind: kind('worker dies at write'),
    nth: ordinal,
    side: fc.constantFrom('before' as const, 'after' as const),
  }),
  fc.record({ kind: kind('worker pauses'), which: process, atMs: time, forMs: duration }),
  fc.record({ kind: kind('worker pauses at write'), nth: ordinal, forMs: longPause }),
  fc.record({ kind: kind('worker leaves'), which: process, atMs: time }),
  fc.record({ kind: kind('executor dies'), which: process, atMs: time, forMs: duration }),
  fc.record({
    kind: kind('executor dies at call'),
    nth: fc.integer({ min: 0, max: 12 }),
    point: fc.constantFrom<ExecutorPoint[]>('before the effect', 'after the effect', 'after the reply'),
  }),
  fc.record({ kind: kind('executor pauses'), which: process, atMs: time, forMs: duration }),
  fc.record({ kind: kind('summarizer dies'), atMs: time, forMs: duration }),
  fc.record({ kind: kind('summarizer pauses'), atMs: time, forMs: duration }),
  fc.record({
    kind: kind('store request'),
    nth: fc.integer({ min: 0, max: 100 }),
    fate: fc.constantFrom('lost' as const, 'answer lost' as const, 'late' as const),
  }),
  fc.record({ kind: kind('store away'), atMs: time, forMs: duration }),
  fc.record({ kind: kind('queue flushed'), atMs: time }),
  fc.record({ kind: kind('job'), nth: fc.integer({ min: 0, max: 10 }), fate }),
  fc.record({ kind: kind('stop signal'), nth: fc.integer({ min: 0, max: 10 }), fate }),
  fc.record({ kind: kind('tool message'), nth: ordinal, fate }),
  fc.record({ kind: kind('bus away'), atMs: time, forMs: duration }),
  fc.record({ kind: kind('bus forgets'), atMs: time }),
);

const runPlan: fc.Arbitrary<RunPlan> = fc.record({
  thread: fc.integer({ min: 0, max: 2 }),
  atMs: fc.integer({ min: 0, max: 20_000 }),
  seed: fc.nat(),
  stopAtMs: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: time }),
});

/** Shrinks by leaving runs and faults out. */
export const anySchedule: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat(),
  runs: fc.array(runPlan, { minLength: 1, maxLength: 4, size: 'max' }),
  faults: fc.array(fault, { maxLength: 12, size: 'max' }),
});
