import { isDeepStrictEqual } from 'node:util';
import {
  type DeltaEvent,
  type FactWithType,
  type FinishReason,
  type Message,
  type RecordedFact,
  type ToolCall,
  type Waiting,
  readJson,
} from '@rondo/contract';
import type { AgUiMessage } from '@rondo/contract/api';
import { deltaText, readQueuedRun, listStoredTexts, toStream } from '@rondo/domain';
import { type SubscriberEvent, isNotice } from '../../live/stream-notices';
import { describeOtherWait, describeShortEnd, readClosingWords } from '../run-answer';
import { isSilent } from '../silent-facts';
import { Transcript, agUiIds, isShownAsText, toToolCall } from './ag-ui.messages';

/** An event of AG-UI. */
export type Frame = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface TranslatorOptions {
  /** The client's own. */
  readonly threadId: string;
  readonly runId: string;
  /** Where the run is found in Rondo's API and console. */
  readonly rondo: { readonly run_id: string; readonly thread_id: string };
  /** Undefined: the client knows no outcome but `interrupt`. */
  readonly protocolVersion: string | undefined;
  /** What the client has, or is to have, from before the run. */
  readonly history: readonly AgUiMessage[];
  /** The client may have some of the run, or nothing of the thread. */
  readonly isTakenUp: boolean;
  /** Tools whose calls the client answers. */
  readonly callerTools: ReadonlySet<string>;
  /** The seqs of waits that were ended elsewhere: the client is shown what followed. */
  readonly passed: ReadonlySet<number>;
}

/** Something that a run waits for and that the client can answer. */
export interface Interrupt {
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  readonly toolCallId?: string;
  readonly expiresAt?: string;
  readonly responseSchema: object;
}

const answerSchema = { type: 'string', description: 'The answer.' };
const decisionSchema = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    reason: { type: 'string' },
    arguments: { type: 'object', description: 'Other arguments for the call.' },
  },
  required: ['approved'],
};

/** What a client is asked for. Empty for waits that it cannot end with an answer. */
export function toInterrupts({ reason, question, approvals = [] }: Waiting): Interrupt[] {
  if (reason === 'ask' && question)
    return [{ id: question.tool_call_id, reason: 'ask', message: question.text, responseSchema: answerSchema }];
  if (reason !== 'approval') return [];
  return approvals.map(({ approval_id: id, tool_call_id: toolCallId, name, expires_at: expiresAt }) => ({
    id,
    reason: 'approval',
    message: `May ${name} be called?`,
    toolCallId,
    expiresAt,
    responseSchema: decisionSchema,
  }));
}

interface ShownCall {
  readonly name: string;
  readonly messageId: string;
  written: string;
  isOpen: boolean;
  isPlanned: boolean;
}

interface TokenUsage {
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens: number;
}

/**
 * Turns the events of a run, in their order, into those of AG-UI. It has no clock and reads nothing: the same facts give the same
 * messages, whatever pieces the deltas between them come in. What was opened is closed before the run ends, as clients demand.
 */
export class AgUiTranslator {
  private readonly transcript: Transcript;
  private readonly sent = new Map<string, number>();
  private readonly calls = new Map<string, ShownCall>();
  private readonly answered = new Set<string>();
  private readonly usage = new Map<string, TokenUsage>();
  private text: string | undefined;
  private reasoning: string | undefined;
  private step: string | undefined;
  /** The id of the reply that is being written. */
  private replyId: string | undefined;
  private closing: { readonly id: string; readonly words: string } | undefined;
  /** Nothing follows. */
  isOver = false;

  constructor(private readonly options: TranslatorOptions) {
    this.transcript = new Transcript(options.history);
  }

  begin(): Frame[] {
    const { rondo, protocolVersion, isTakenUp } = this.options;
    const declared = protocolVersion !== undefined && { protocolVersion: spokenVersion };
    return [
      { type: 'RUN_STARTED', ...this.clientIds, ...declared, metadata: { rondo } },
      ...(isTakenUp ? [this.snapshot()] : []),
    ];
  }

  translate(event: SubscriberEvent): Frame[] {
    if (this.isOver || event.type === 'stream.snapshot') return [];
    if (isNotice(event)) return this.fail({ code: 'log_trimmed', message: 'Events of this run have been deleted.' });
    return event.seq === null ? this.translateDelta(event) : this.translateFact(event);
  }

  private translateDelta(delta: DeltaEvent): Frame[] {
    if (delta.type === 'tool.output') return [];
    if (delta.type === 'tool.call_delta') return this.showArguments(delta);
    const shown = this.sent.get(toStream(delta)) ?? 0;
    if (delta.offset > shown) return []; // its fact has the whole text
    return this.say(delta.type, delta.stream_id, deltaText(delta).slice(shown - delta.offset));
  }

  private translateFact(fact: RecordedFact): Frame[] {
    if (isSilent(fact)) return [];
    switch (fact.type) {
      case 'iteration.started':
        return this.beginStep(fact.data);
      case 'iteration.restarted':
        return this.restart(fact.data);
      case 'iteration.completed':
        return [...this.closeTexts(), ...this.endStep()];
      case 'message.created':
        return fact.data.message.type === 'user' ? this.showUser(fact.data.message) : this.showRest(fact);
      case 'tool.planned':
        return this.plan(fact.data.tool_call);
      case 'tool.completed':
      case 'tool.failed':
        return this.showResult(fact.data, fact.data.result.error ?? fact.data.result.output);
      case 'tool.unknown':
        return fact.data.message_id === undefined ? [] : this.showResult(fact.data, fact.data.reason);
      case 'usage.recorded':
        this.count(fact.data);
        return [];
      case 'run.waiting':
        return this.options.passed.has(fact.seq) ? [] : this.wait(fact.data);
      case 'run.completed':
        return this.complete(fact.data.finish_reason);
      case 'run.stopped':
        return this.finish({ type: 'cancelled' }, this.toResult('stopped', fact.data.reason));
      case 'run.failed':
        return this.fail(fact.data.error);
      case 'run.started':
      case 'run.resumed':
      case 'run.stop_requested':
      case 'model.retried':
      case 'model.fell_back':
      case 'tool.started':
      case 'approval.requested':
      case 'approval.decided':
      case 'context.compacted':
        return [];
    }
  }

  private beginStep({ iteration, message_id: replyId }: { iteration: number; message_id: string }): Frame[] {
    const frames = [...this.closeTexts(), ...this.endStep()];
    this.replyId = replyId;
    this.step = `iteration ${iteration}`;
    return [...frames, { type: 'STEP_STARTED', stepName: this.step }];
  }

  private endStep(): Frame[] {
    const { step } = this;
    this.step = undefined;
    return step === undefined ? [] : [{ type: 'STEP_FINISHED', stepName: step }];
  }

  /** What was withdrawn is taken from the client with a snapshot that does not have it. */
  private restart({
    message_id: replyId,
    withdrawn_stream_ids: ids,
  }: FactWithType<'iteration.restarted'>['data']): Frame[] {
    const withdrawn = ids.filter((id) => !this.calls.get(id)?.isPlanned);
    const frames = [...this.closeTexts(), ...withdrawn.flatMap((id) => this.closeCall(id))];
    for (const stream_id of withdrawn) {
      for (const type of ['message.delta', 'reasoning.delta', 'tool.call_delta'] as const)
        this.sent.delete(toStream({ type, stream_id }));
      this.calls.delete(stream_id);
    }
    this.transcript.withdraw(withdrawn);
    this.replyId = replyId;
    return [...frames, this.snapshot()];
  }

  private say(type: 'message.delta' | 'reasoning.delta', streamId: string, text: string): Frame[] {
    if (text === '') return [];
    const stream = toStream({ type, stream_id: streamId });
    this.sent.set(stream, (this.sent.get(stream) ?? 0) + text.length);
    return type === 'message.delta'
      ? this.sayText({ id: streamId }, text)
      : this.reason(agUiIds.reasoning(streamId), text);
  }

  private sayText(
    { id: messageId, role = 'assistant' }: { readonly id: string; readonly role?: 'assistant' | 'user' },
    delta: string,
  ): Frame[] {
    const frames = this.closeReasoning();
    if (this.text !== messageId) {
      frames.push(...this.closeText(), { type: 'TEXT_MESSAGE_START', messageId, role });
      this.text = messageId;
    }
    this.transcript.say(role, messageId, delta);
    return [...frames, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }];
  }

  private reason(messageId: string, delta: string): Frame[] {
    const frames: Frame[] = [];
    if (this.reasoning !== messageId) {
      frames.push(...this.closeReasoning(), { type: 'REASONING_START', messageId });
      frames.push({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' });
      this.reasoning = messageId;
    }
    this.transcript.say('reasoning', messageId, delta);
    return [...frames, { type: 'REASONING_MESSAGE_CONTENT', messageId, delta }];
  }

  private closeTexts(): Frame[] {
    return [...this.closeReasoning(), ...this.closeText()];
  }

  private closeText(): Frame[] {
    const { text: messageId } = this;
    this.text = undefined;
    return messageId === undefined ? [] : [{ type: 'TEXT_MESSAGE_END', messageId }];
  }

  private closeReasoning(): Frame[] {
    const { reasoning: messageId } = this;
    this.reasoning = undefined;
    if (messageId === undefined) return [];
    return [
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ];
  }

  /** What no delta has shown of a stored reply. */
  private showRest(fact: FactWithType<'message.created'>): Frame[] {
    const texts = listStoredTexts(fact);
    if (texts.length === 0) return [];
    const frames = texts.flatMap(({ type, stream_id, text }) =>
      this.say(type, stream_id, text.slice(this.sent.get(toStream({ type, stream_id })) ?? 0)),
    );
    return [...frames, ...this.closeTexts()];
  }

  /** The answer to a question, which only a client that comes back does not have, and what the run was told elsewhere. */
  private showUser(message: Message): Frame[] {
    const { id, content, metadata } = message;
    const isNewAnswer = this.options.isTakenUp && metadata['answers_tool_call_id'] !== undefined;
    if (!isNewAnswer && readQueuedRun(message) === undefined) return [];
    const words = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
    return words === ''
      ? []
      : [...this.closeTexts(), ...this.sayText({ id, role: 'user' }, words), ...this.closeText()];
  }

  private showArguments(delta: DeltaEvent): Frame[] {
    const { name } = delta.data;
    const [id, stream] = [delta.stream_id, toStream(delta)];
    const frames = typeof name === 'string' ? this.showCall(id, name) : [];
    const call = this.calls.get(id);
    const shown = this.sent.get(stream) ?? 0;
    if (!call?.isOpen || delta.offset > shown) return frames;
    return [...frames, ...this.write(call, { id, stream }, deltaText(delta).slice(shown - delta.offset))];
  }

  private write(call: ShownCall, { id, stream }: { id: string; stream: string }, delta: string): Frame[] {
    if (delta === '') return [];
    this.sent.set(stream, (this.sent.get(stream) ?? 0) + delta.length);
    call.written += delta;
    const written = { name: call.name, arguments: call.written };
    this.transcript.call(call.messageId, { id, type: 'function', function: written });
    return [{ type: 'TOOL_CALL_ARGS', toolCallId: id, delta }];
  }

  /** Once for each call. */
  private showCall(id: string, name: string): Frame[] {
    if (this.calls.has(id) || isShownAsText(name)) return [];
    const parentMessageId = this.replyId ?? id;
    this.calls.set(id, { name, messageId: parentMessageId, written: '', isOpen: true, isPlanned: false });
    return [{ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name, parentMessageId }];
  }

  private closeCall(toolCallId: string): Frame[] {
    const call = this.calls.get(toolCallId);
    if (!call?.isOpen) return [];
    call.isOpen = false;
    return [{ type: 'TOOL_CALL_END', toolCallId }];
  }

  /** Arguments that were written in another way than they are kept are corrected with a snapshot. */
  private plan(planned: ToolCall): Frame[] {
    const { id, name, arguments: given } = planned;
    const words = readClosingWords(planned);
    if (words !== undefined) this.closing = { id: agUiIds.answer(id), words };
    const frames = this.showCall(id, name);
    const call = this.calls.get(id);
    if (!call) return frames;
    call.isPlanned = true;
    const stream = toStream({ type: 'tool.call_delta', stream_id: id });
    if (call.written === '') frames.push(...this.write(call, { id, stream }, JSON.stringify(given)));
    frames.push(...this.closeCall(id));
    if (isDeepStrictEqual(readJson(call.written), given)) return frames;
    this.transcript.call(call.messageId, toToolCall({ id, name, arguments: given }));
    return [...frames, this.snapshot()];
  }

  /** Exactly one for each call. The client has its own results already, unless it comes back. */
  private showResult({ tool_call_id: id, name }: { tool_call_id: string; name: string }, content: string): Frame[] {
    const { callerTools, isTakenUp } = this.options;
    const isItsOwn = callerTools.has(name) && !this.calls.has(id) && !isTakenUp;
    if (isShownAsText(name) || isItsOwn || this.answered.has(id)) return [];
    this.answered.add(id);
    this.transcript.addResult(id, content);
    return [{ type: 'TOOL_CALL_RESULT', messageId: agUiIds.result(id), toolCallId: id, role: 'tool', content }];
  }

  private count(used: FactWithType<'usage.recorded'>['data']): void {
    const before = this.usage.get(used.model);
    const inputTokens = (before?.inputTokens ?? 0) + used.input_tokens;
    const outputTokens = (before?.outputTokens ?? 0) + used.output_tokens;
    this.usage.set(used.model, {
      provider: used.model.split('/')[0] ?? used.model,
      model: used.model,
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens,
      cachedInputTokens: (before?.cachedInputTokens ?? 0) + used.cached_tokens,
    });
  }

  private wait(waiting: Waiting): Frame[] {
    const { reason, question, tool_calls: calls = [] } = waiting;
    if (reason === 'child_runs') return [];
    const message = describeOtherWait(waiting);
    if (message !== undefined) return this.fail({ code: `waiting_${reason}`, message });
    if (reason === 'caller_tools')
      return this.finish({ type: 'success', pendingToolCallIds: calls.map(({ tool_call_id: id }) => id) });
    const asked = question ? this.sayText({ id: agUiIds.question(question.tool_call_id) }, question.text) : [];
    const frames = [...asked, ...this.close(), this.snapshot()];
    return [...frames, ...this.finish({ type: 'interrupt', interrupts: toInterrupts(waiting) })];
  }

  private complete(finishReason: FinishReason): Frame[] {
    const said = this.closing ? this.sayText({ id: this.closing.id }, this.closing.words) : [];
    const why = describeShortEnd(finishReason);
    if (why !== undefined) return [...said, ...this.fail({ code: finishReason, message: why })];
    return [...said, ...this.finish({ type: 'success' }, this.toResult(finishReason))];
  }

  /** Which older clients have instead of an outcome. */
  private toResult(finish_reason: string, reason?: string | null): object {
    return { ...this.options.rondo, finish_reason, ...(reason && { reason }) };
  }

  private finish(outcome: { readonly type: string } & Readonly<Record<string, unknown>>, result?: object): Frame[] {
    const isKnown = this.options.protocolVersion !== undefined || outcome.type === 'interrupt';
    const frames = this.close();
    this.isOver = true;
    return [
      ...frames,
      {
        type: 'RUN_FINISHED',
        ...this.clientIds,
        ...(result && { result }),
        ...(isKnown && { outcome }),
        ...this.shownUsage,
      },
    ];
  }

  private fail({ code, message }: { readonly code: string; readonly message: string }): Frame[] {
    const frames = this.close();
    this.isOver = true;
    return [...frames, { type: 'RUN_ERROR', message, code, ...this.shownUsage }];
  }

  private close(): Frame[] {
    const calls = [...this.calls.keys()].flatMap((id) => this.closeCall(id));
    return [...this.closeTexts(), ...calls, ...this.endStep()];
  }

  private snapshot(): Frame {
    return { type: 'MESSAGES_SNAPSHOT', messages: this.transcript.snapshot };
  }

  private get clientIds() {
    const { threadId, runId } = this.options;
    return { threadId, runId };
  }

  private get shownUsage() {
    return this.usage.size === 0 ? {} : { usage: [...this.usage.values()] };
  }
}

/** The version of the protocol that is spoken with clients that name one. */
const spokenVersion = '1.0';
