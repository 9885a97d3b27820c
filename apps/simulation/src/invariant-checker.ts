import {
  type CallId,
  type Delta,
  type RecordedFact,
  type RunId,
  type RunSettings,
  type ThreadId,
  type ToolCall,
  isTerminalFact,
} from '@rondo/contract';
import { type Claim, type ModelMessage, type ModelRequest, builtInTools, requiresApproval } from '@rondo/domain';
import type { SimulatedStore } from './simulated-store';
import type { Timeline } from './timeline';

/** Records everything that happens in a world, and reports what must not happen. No part of the world depends on it. */
export class InvariantChecker {
  readonly violations: string[] = [];
  readonly journal: string[] = [];
  /** When each call had its effects, in milliseconds since the world began. */
  readonly effects = new Map<CallId, number[]>();
  /** The deltas of each stream, by type. */
  readonly streams = new Map<string, { readonly runId: RunId; readonly text: Record<Delta['type'], string> }>();
  refusedWrites = 0;
  modelCalls = 0;
  private readonly epochs = new Map<RunId, number>();
  private readonly ended = new Set<RunId>();
  private readonly asked = new Map<RunId, number>();

  constructor(
    private readonly timeline: Timeline,
    private readonly store: SimulatedStore,
  ) {}

  note(...words: readonly (string | number)[]): void {
    this.journal.push(`${this.timeline.now} ${words.join(' ')}`);
  }

  violation(text: string): void {
    this.note('VIOLATION', text);
    this.violations.push(text);
  }

  checkClaim({ runId, threadId, epoch }: Claim, owner: string): void {
    this.note(owner, 'claimed', runId, epoch);
    if (epoch <= (this.epochs.get(runId) ?? 0)) this.violation(`I3: ${runId} was claimed twice with epoch ${epoch}`);
    this.epochs.set(runId, epoch);
    this.checkThread(threadId);
  }

  checkFacts({ runId, threadId, epoch }: Claim, facts: readonly RecordedFact[]): void {
    this.note(runId, epoch, 'wrote', facts.map(({ type }) => type).join(','));
    if (epoch !== this.epochs.get(runId)) this.violation(`I3: an older holder (${epoch}) of ${runId} could write`);
    if (this.ended.has(runId)) this.violation(`I2: something was written after the end of ${runId}`);
    if (facts.some(isTerminalFact)) this.ended.add(runId);
    this.checkThread(threadId);
  }

  countRefused(claim: Claim, reason: string): void {
    this.refusedWrites += 1;
    this.note(claim.runId, claim.epoch, 'was refused:', reason);
  }

  checkDelta({ runId }: Claim, { type, streamId, text }: Delta): void {
    const nothing = { 'message.delta': '', 'reasoning.delta': '', 'tool.call_delta': '', 'tool.output': '' };
    const stream = this.streams.get(streamId) ?? { runId, text: nothing };
    stream.text[type] += text;
    this.streams.set(streamId, stream);
  }

  /** Returns how often this run's model was called before. */
  modelCalled(claim: Claim, request: ModelRequest): number {
    const { runId, epoch } = claim;
    const before = this.asked.get(runId) ?? 0;
    this.asked.set(runId, before + 1);
    this.modelCalls += 1;
    this.note(runId, epoch, 'asked the model', before);

    const refusal = findRefusal(request.messages);
    if (refusal !== undefined) this.violation(`I6: ${runId} sent a request that no provider takes: ${refusal}`);
    const words = JSON.stringify(request.messages);
    this.checkForeignWords(claim, words);
    // A request of an older holder has no consequences, and may be out of date.
    if (epoch === this.epochs.get(runId)) {
      this.checkAskedOnce(runId);
      this.checkOwnWords(runId, words);
    }
    return before;
  }

  /** A call must be in the log before any holder sends it (I4). */
  checkCall(call: ToolCall): void {
    this.note(call.run_id, 'sent', call.id);
    const { log } = this.store.row(call.run_id);
    const isStarted = log.some((fact) => fact.type === 'tool.started' && fact.data.tool_call_id === call.id);
    if (!isStarted) this.violation(`I4: ${call.id} went out before the log had it as started`);
  }

  effect(call: ToolCall): void {
    this.note(call.id, 'took effect', call.effect_class);
    this.effects.set(call.id, [...(this.effects.get(call.id) ?? []), this.timeline.now]);
    const { log, run } = this.store.row(call.run_id);
    if (!isApproved(call, log, run.settings)) this.violation(`I5: ${call.id} took effect without its approval`);
    const retries = log.filter(({ type, data }) => type === 'tool.resolved' && isRetry(data, call.id)).length;
    if (call.effect_class === 'unsafe' && this.listEffects(call.id).length > 1 + retries)
      this.violation(`I5: the unsafe ${call.id} took effect twice`);
  }

  listEffects(id: CallId): readonly number[] {
    return this.effects.get(id) ?? [];
  }

  private checkThread(id: ThreadId): void {
    const active = [...this.store.rows.values()].filter(({ run, holdsThread }) => run.thread_id === id && holdsThread);
    if (active.length > 1) this.violation(`I9: ${id} has ${active.length} active runs`);
  }

  /** A reply in the log is not requested again; only a reply that was cut off by its length is continued. */
  private checkAskedOnce(runId: RunId): void {
    const { log } = this.store.row(runId);
    const begun = log.findLastIndex(({ type }) => type === 'iteration.started' || type === 'iteration.restarted');
    const iteration = log[begun]?.iteration;
    const isStored = log.some((fact) => fact.iteration === iteration && isReply(fact));
    const last = log.slice(begun).findLast(({ type }) => type === 'usage.recorded');
    const goesOn = last?.type === 'usage.recorded' && last.data.finish_reason === 'continued';
    if (isStored && !goesOn) this.violation(`I4: ${runId} asked again for a reply that is in its log`);
  }

  /** Words contain their run's name, and only words of this thread may reach its model (I10). */
  private checkForeignWords({ runId, threadId }: Claim, words: string): void {
    for (const id of new Set(words.match(/run_\w+/g))) {
      if (this.store.row(id as RunId).run.thread_id !== threadId)
        this.violation(`I10: words of ${id} were shown to the model of ${runId}`);
    }
  }

  /** The newest message of the user is sent (I13), and the request is valid for every provider (I6). */
  private checkOwnWords(runId: RunId, words: string): void {
    const { log } = this.store.row(runId);
    const newest = log.findLast((fact) => fact.type === 'message.created' && fact.data.message.type === 'user');
    const said = newest?.type === 'message.created' ? newest.data.message.content[0] : undefined;
    if (said?.type === 'text' && !words.includes(said.text))
      this.violation(`I13: the newest words of ${runId}'s user were not sent`);
    if (words.includes('No result was recorded')) this.violation(`I6: ${runId} has a call without a result`);
  }
}

const isReply = (fact: RecordedFact): boolean =>
  fact.type === 'message.created' && fact.data.message.type === 'assistant';

const isRetry = (data: RecordedFact['data'], id: CallId): boolean =>
  'outcome' in data && data.outcome === 'retry' && data.tool_call_id === id;

/** A call that needs approval takes effect with the arguments that a person approved, and not before. */
function isApproved(call: ToolCall, log: readonly RecordedFact[], settings: RunSettings): boolean {
  const planned = log.find((fact) => fact.type === 'tool.planned' && fact.data.tool_call.id === call.id);
  if (planned?.type !== 'tool.planned') return false;
  if (!requiresApproval({ settings, tools: builtInTools }, planned.data.tool_call)) return true;
  return log.some((fact) => {
    if (fact.type !== 'approval.decided' || fact.data.tool_call_id !== call.id) return false;
    const { outcome, arguments: edited = planned.data.tool_call.arguments } = fact.data;
    const isAllowed = outcome === 'approve' || outcome === 'edit';
    return isAllowed && JSON.stringify(edited) === JSON.stringify(call.arguments);
  });
}

/** What any provider would refuse of a request's messages (I6): the reason, or undefined. */
function findRefusal(messages: readonly ModelMessage[]): string | undefined {
  const seen = new Set<CallId>();
  for (const [at, message] of messages.entries()) {
    const reason = refusalAt(messages, at) ?? findRepeatedCall(message, seen);
    if (reason !== undefined) return `message ${at}: ${reason}`;
  }
  const last = messages.at(-1)?.role;
  return last === 'user' || last === 'tool' ? undefined : `the last message has the role ${last ?? 'none'}`;
}

function refusalAt(messages: readonly ModelMessage[], at: number): string | undefined {
  const [before, message] = [messages[at - 1], messages[at]];
  if (message?.role === 'tool') return findUnanswered(message.results, listCalls(before));
  if (listCalls(before).length > 0) return 'the calls before it are not answered';
  if (before === undefined && message?.role !== 'user') return 'the first message is not the user’s';
  if (before?.role === message?.role) return `two messages of the role ${message?.role ?? 'none'} in a row`;
  return message?.content.some(isSaid) ? undefined : 'it is empty';
}

const isSaid = (block: { readonly type: string; readonly text?: string }): boolean =>
  block.type === 'tool_call' || block.type === 'image' || (block.type === 'text' && block.text?.trim() !== '');

const listCalls = (message: ModelMessage | undefined): CallId[] =>
  message?.role === 'assistant'
    ? message.content.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []))
    : [];

function findUnanswered(
  results: readonly { tool_call_id: CallId; text: string }[],
  calls: CallId[],
): string | undefined {
  if (results.map(({ tool_call_id: id }) => id).join() !== calls.join())
    return 'its results are not those of the calls';
  return results.some(({ text }) => text.trim() === '') ? 'a result is empty' : undefined;
}

function findRepeatedCall(message: ModelMessage, seen: Set<CallId>): string | undefined {
  for (const id of listCalls(message)) {
    if (seen.has(id)) return `${id} stands twice`;
    seen.add(id);
  }
  return undefined;
}
