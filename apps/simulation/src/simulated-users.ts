import {
  type ApprovalOutcome,
  type CallId,
  type MessageId,
  type NewFact,
  type NewMessage,
  type Resolution,
  type Run,
  type RunId,
  type RunSettings,
  type ThreadId,
  toFailedResult,
  isWaiting,
  runId,
  threadId,
} from '@rondo/contract';
import {
  type CallerOutcome,
  type IdGenerator,
  type PendingStop,
  type StopRequest,
  awaitsPerson,
  decideApproval,
  effectiveSettings,
  openCalls,
  replay,
  resolveCall,
  settleCallerCalls,
} from '@rondo/domain';
import { SeededRandom } from './seeded-random';
import type { InvariantChecker } from './invariant-checker';
import type { RunPlan } from './schedule';
import type { RunRow } from './simulated-run-row';
import type { SimulatedStore } from './simulated-store';
import { Life, type Timeline } from './timeline';

export interface SimulatedUsersParts {
  readonly timeline: Timeline;
  readonly random: SeededRandom;
  readonly inspector: InvariantChecker;
  readonly store: SimulatedStore;
  readonly ids: IdGenerator;
  /** Signals a stop that is already committed. */
  readonly broadcast: (stop: PendingStop) => void;
}

const pollMs = 1_000;

/** The users, behind a gateway that never fails: they create runs, stop them, and answer waiting runs. */
export class SimulatedUsers {
  private readonly busyWith = new Set<RunId>();
  private answers = 0;

  constructor(private readonly parts: SimulatedUsersParts) {}

  follow(plans: readonly RunPlan[]): void {
    const { timeline } = this.parts;
    for (const [at, plan] of plans.entries()) {
      const id = runId.parse(`run_${at}`);
      timeline.after(plan.atMs, () => this.askFor(id, plan));
      const { stopAtMs } = plan;
      if (stopAtMs !== undefined) timeline.after(plan.atMs + stopAtMs, () => this.stop(id, stopAtMs % 2 === 1));
    }
    timeline.every(new Life('people'), pollMs, () => this.answerWaitingRuns());
  }

  private askFor(id: RunId, { thread, seed }: RunPlan): void {
    const thread_id = threadId.parse(`thr_${thread}`);
    const settings = randomSettings(new SeededRandom(seed, 'settings'));
    const { dialect, execute_on_stream: onStream } = settings.processor;
    this.parts.inspector.note(id, 'is asked for on', thread_id, dialect, onStream ? 'on stream' : 'after the reply');
    const input = this.said({ id, thread_id }, `Input of ${id}: do it.`);
    this.parts.store.create({ id, threadId: thread_id, settings, input });
  }

  private stop(id: RunId, isFailure: boolean): void {
    const { timeline, store, inspector, broadcast } = this.parts;
    inspector.note(id, 'is told to stop');
    const stop: StopRequest = {
      requestedAt: timeline.isoNow,
      reason: 'enough',
      error: isFailure ? 'It went wrong.' : undefined,
    };
    const pending = store.requestStop(id, stop);
    if (pending) broadcast(pending);
  }

  private answerWaitingRuns(): void {
    const { store, timeline, random } = this.parts;
    for (const { run } of store.rows.values()) {
      if (!isWaiting(run.status) || this.busyWith.has(run.id)) continue;
      this.busyWith.add(run.id);
      timeline.after(random.delay(3_000), () => this.answer(run.id));
      if (random.chance(0.2)) timeline.after(random.delay(3_000), () => this.answer(run.id));
    }
  }

  /** Two users may answer at once; the second answer finds the run resumed. */
  private answer(id: RunId): void {
    const { store, inspector } = this.parts;
    const row = store.row(id);
    const facts = this.factsFor(row);
    const isReceived = store.resume(id, facts);
    inspector.note(id, isReceived ? facts.map(({ type }) => type).join() : 'waits no more');
    this.busyWith.delete(id);
  }

  private factsFor(row: RunRow): NewFact[] {
    const reason = row.run.waiting?.reason;
    if (reason === 'tool_unknown') return this.resolutionFor(row);
    if (reason === 'caller_tools') return this.resultsFor(row);
    return reason === 'approval' ? this.decisionFor(row) : this.answerTo(row.run);
  }

  /** The caller answers some of its calls or none, or a sweeper finds that their time is over. */
  private resultsFor({ run, log }: RunRow): NewFact[] {
    const { random, ids, timeline } = this.parts;
    const awaited = run.waiting?.tool_calls ?? [];
    const outcomes = new Map(
      awaited.flatMap((call): [CallId, CallerOutcome][] => {
        if (call.expires_at < timeline.isoNow) return [[call.tool_call_id, { how: 'expired', durationMs: 1_000 }]];
        if (random.chance(0.3)) return [];
        const result = random.chance(0.9) ? { success: true, output: 'sun' } : toFailedResult('There is no weather.');
        return [[call.tool_call_id, { how: 'answered', result, durationMs: 5, answeredBy: 'key_1' }]];
      }),
    );
    const answering = { run: { id: run.id, threadId: run.thread_id }, state: replay(log), ports: { ids } };
    return settleCallerCalls(answering, { awaited, outcomes, policy: run.settings.processor.unknown_outcome });
  }

  /** A user decides about a call, or the gateway's sweeper finds that the time for it is over. */
  private decisionFor({ run, log }: RunRow): NewFact[] {
    const { random, ids, timeline } = this.parts;
    const [awaited] = run.waiting?.approvals ?? [];
    if (!awaited) return [];
    const isOver = awaited.expires_at < timeline.isoNow;
    const outcome = isOver ? 'expire' : random.pick<ApprovalOutcome>(['approve', 'approve', 'approve', 'deny', 'edit']);
    const edited = { arguments: { command: 'make safely', blocking: true }, effectClass: 'unsafe' as const };
    const answering = { run: { id: run.id, threadId: run.thread_id }, state: replay(log), ports: { ids } };
    const ruling = { outcome, decidedBy: isOver ? null : 'key_1', argumentsHash: null };
    return decideApproval(answering, awaited.tool_call_id, outcome === 'edit' ? { ...ruling, edited } : ruling) ?? [];
  }

  /** A user checks the effect of a call whose outcome is unknown. */
  private resolutionFor({ run, log }: RunRow): NewFact[] {
    const { random, ids, inspector } = this.parts;
    const state = replay(log);
    const doubtful = openCalls(state).find(awaitsPerson);
    if (!doubtful) return [];
    const truth: Resolution = inspector.listEffects(doubtful.call.id).length > 0 ? 'completed' : 'not_applied';
    const outcome = random.pick<Resolution>([truth, truth, 'retry']);
    const answering = { run: { id: run.id, threadId: run.thread_id }, state, ports: { ids } };
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
    const messageId: MessageId = this.parts.ids.messageId();
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

/** Random settings of a run. */
function randomSettings(random: SeededRandom): RunSettings {
  const execute_command = {
    enabled: true,
    require_approval: random.pick([false, false, true, [{ command: '*test' }]]),
    only: true,
  };
  const effective = effectiveSettings(
    {
      profile: random.pick(['suna', 'suna', 'ii', 'symphony']),
      // What the random model calls, which not every profile offers under these names.
      tools: { read_file: true, list_files: true, create_file: true, full_file_rewrite: true, execute_command },
      approval_expires_s: random.pick([2, 3_600]),
      caller_tools: [
        { name: 'get_weather', description: 'The weather.', effect_class: 'pure', timeout_s: random.pick([1, 3_600]) },
        { name: 'order_taxi', description: 'Orders a taxi.', timeout_s: random.pick([1, 3_600]) },
      ],
      processor: {
        dialect: random.pick(['native', 'native', 'xml_invoke', 'xml_tag', 'json']),
        execute_on_stream: random.chance(0.5),
        tool_execution_strategy: random.pick(['parallel', 'sequential']),
        xml_adding_strategy: random.pick(['user_message', 'assistant_message', 'inline_edit']),
        max_tool_calls: random.pick([0, 0, 1, 2]),
        native_max_auto_continues: random.pick([0, 2]),
        json_repair_attempts: random.pick([0, 1]),
        unknown_outcome: random.pick(['report', 'park']),
      },
      context: {
        strategy: random.pick(['none', 'none', 'summary', 'head_tail']),
        ...{ token_threshold: 1_000, reserve_tokens: 0, summary_target_tokens: 100, max_turns: 6 },
      },
      limits: {
        max_iterations: random.pick([2, 10, 10, 10]),
        max_malformed_calls: random.pick([2, 5]),
        max_duration_s: random.pick([60, 3600, 3600, 3600]),
      },
    },
    { model: 'demo/improviser' },
  );
  if ('problems' in effective) throw new Error(JSON.stringify(effective.problems));
  return effective.settings;
}
