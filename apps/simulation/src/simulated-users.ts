import {
  type MessageId,
  type NewFact,
  type NewMessage,
  type Resolution,
  type Run,
  type RunId,
  type RunSettings,
  type ThreadId,
  isWaiting,
  runId,
  threadId,
} from '@rondo/contract';
import {
  type IdsAndClock,
  type PendingStop,
  type StopRequest,
  awaitsPerson,
  effectiveSettings,
  openCalls,
  replay,
  resolveCall,
} from '@rondo/domain';
import { SeededRandom } from './seeded-random';
import type { InvariantChecker } from './invariant-checker';
import type { RunPlan } from './schedule';
import type { RunRow } from './simulated-run-row';
import type { SimulatedStore } from './simulated-store';
import { Life, type Timeline } from './timeline';

export interface SimulatedUsersParts {
  readonly timeline: Timeline;
  readonly dice: SeededRandom;
  readonly inspector: InvariantChecker;
  readonly store: SimulatedStore;
  readonly clerk: IdsAndClock;
  /** Says a stop that is durable already to whoever listens. */
  readonly spread: (stop: PendingStop) => void;
}

const lookEveryMs = 1_000;

/** Those who use the product, through a gateway that is always there: they ask, stop, and answer what they are asked. */
export class SimulatedUsers {
  private readonly busyWith = new Set<RunId>();
  private answers = 0;

  constructor(private readonly parts: SimulatedUsersParts) {}

  follow(plans: readonly RunPlan[]): void {
    const { timeline } = this.parts;
    for (const [at, plan] of plans.entries()) {
      const id = runId.parse(`run_${at}`);
      timeline.after(plan.atMs, () => this.askFor(id, plan));
      if (plan.stopAtMs !== undefined) timeline.after(plan.atMs + plan.stopAtMs, () => this.stop(id));
    }
    timeline.every(new Life('people'), lookEveryMs, () => this.lookAround());
  }

  private askFor(id: RunId, { thread, seed }: RunPlan): void {
    const thread_id = threadId.parse(`thr_${thread}`);
    const settings = anySettings(new SeededRandom(seed, 'settings'));
    const { dialect, execute_on_stream: onStream } = settings.processor;
    this.parts.inspector.note(id, 'is asked for on', thread_id, dialect, onStream ? 'on stream' : 'after the reply');
    const input = this.said({ id, thread_id }, `Input of ${id}: do it.`);
    this.parts.store.create({ id, threadId: thread_id, settings, input });
  }

  private stop(id: RunId): void {
    const { timeline, store, inspector, spread } = this.parts;
    inspector.note(id, 'is told to stop');
    const stop: StopRequest = { requestedAt: timeline.isoNow, reason: 'enough' };
    const pending = store.requestStop(id, stop);
    if (pending) spread(pending);
  }

  private lookAround(): void {
    const { store, timeline, dice } = this.parts;
    for (const { run } of store.rows.values()) {
      if (!isWaiting(run.status) || this.busyWith.has(run.id)) continue;
      this.busyWith.add(run.id);
      timeline.after(dice.delay(3_000), () => this.answer(run.id));
      if (dice.chance(0.2)) timeline.after(dice.delay(3_000), () => this.answer(run.id));
    }
  }

  /** Two may answer at once; the run has been resumed by then, and the second is told so. */
  private answer(id: RunId): void {
    const { store, inspector } = this.parts;
    const row = store.row(id);
    const facts = row.run.waiting?.reason === 'tool_unknown' ? this.wordOn(row) : this.answerTo(row.run);
    const isHeard = store.resume(id, facts);
    inspector.note(id, isHeard ? facts.map(({ type }) => type).join() : 'waits no more');
    this.busyWith.delete(id);
  }

  /** Somebody looks what became of the call that is in doubt. */
  private wordOn({ run, log }: RunRow): NewFact[] {
    const { dice, clerk, inspector } = this.parts;
    const state = replay(log);
    const doubtful = openCalls(state).find(awaitsPerson);
    if (!doubtful) return [];
    const truth: Resolution = inspector.effectsOf(doubtful.call.id).length > 0 ? 'completed' : 'not_applied';
    const outcome = dice.pick<Resolution>([truth, truth, 'retry']);
    const answering = { run: { id: run.id, threadId: run.thread_id }, state, ports: { clerk } };
    return resolveCall(answering, doubtful.call.id, { outcome }) ?? [];
  }

  private answerTo({ id, thread_id, iteration }: Run): NewFact[] {
    const message = this.said({ id, thread_id }, `Answer ${++this.answers} for ${id}.`);
    return [
      { type: 'run.resumed', iteration, data: { reason: 'input' } },
      { type: 'message.created', iteration, data: { message } },
    ];
  }

  private said({ id, thread_id }: { id: RunId; thread_id: ThreadId }, text: string): NewMessage {
    const messageId: MessageId = this.parts.clerk.messageId();
    return {
      id: messageId,
      thread_id,
      run_id: id,
      iteration: null,
      type: 'user',
      is_llm_message: true,
      content: [{ type: 'text', text }],
      metadata: {},
    };
  }
}

/** Any way in which a run may be set. */
function anySettings(dice: SeededRandom): RunSettings {
  const effective = effectiveSettings(
    {
      profile: dice.pick(['suna', 'suna', 'ii', 'symphony']),
      processor: {
        dialect: dice.pick(['native', 'native', 'xml_invoke', 'xml_tag', 'json']),
        execute_on_stream: dice.chance(0.5),
        tool_execution_strategy: dice.pick(['parallel', 'sequential']),
        xml_adding_strategy: dice.pick(['user_message', 'assistant_message', 'inline_edit']),
        max_tool_calls: dice.pick([0, 0, 1, 2]),
        native_max_auto_continues: dice.pick([0, 2]),
        json_repair_attempts: dice.pick([0, 1]),
        unknown_outcome: dice.pick(['report', 'park']),
      },
      context: {
        strategy: dice.pick(['none', 'none', 'summary', 'head_tail']),
        ...{ token_threshold: 1_000, reserve_tokens: 0, summary_target_tokens: 100, max_turns: 6 },
      },
      limits: {
        max_iterations: dice.pick([2, 10, 10, 10]),
        max_malformed_calls: dice.pick([2, 5]),
        max_duration_s: dice.pick([60, 3600, 3600, 3600]),
      },
    },
    { model: 'demo/improviser' },
  );
  if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
  return effective.settings;
}
