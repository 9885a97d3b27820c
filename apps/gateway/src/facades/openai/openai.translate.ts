import type { DeltaEvent, RecordedFact, ToolCall, ToolResult, Waiting } from '@rondo/contract';
import { deltaText, listStoredTexts, toStream } from '@rondo/domain';
import { type SubscriberEvent, isNotice } from '../../live/stream-notices';
import { toInteger } from '../positions';
import { describeOtherWait, isQuestion, readClosingWords } from '../run-answer';
import { isSilent } from '../silent-facts';
import { type Segment, toItemId } from './openai-ids';
import {
  type Item,
  type OpenText,
  type UsedTokens,
  addCall,
  nothingUsed,
  toMcpCall,
  toMessage,
  toReasoning,
  toSummary,
  toTextPart,
  toUsage,
} from './openai.items';

/** An event of a response. */
export type Frame = { readonly type: string; readonly sequence_number: number } & Readonly<Record<string, unknown>>;

/** The fields of a response that are the same from its beginning to its end. */
export type ResponseHead = { readonly id: string } & Readonly<Record<string, unknown>>;

export interface ResponseOptions extends Segment {
  readonly head: ResponseHead;
  /** Tools whose calls the client answers. */
  readonly callerTools: ReadonlySet<string>;
  /** The client has declared a function `ask`, and is asked with it. */
  readonly declaresAsk: boolean;
  /** Calls that the response before this one asked an approval for. */
  readonly approvedCalls?: readonly ToolCall[];
}

export interface Ending {
  readonly status: 'completed' | 'failed' | 'incomplete' | 'cancelled';
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly completed_at: number | null;
}

interface Shown {
  item: Item;
  /** The id of the message or call that it shows. */
  readonly streamId: string;
  isWithdrawn: boolean;
}

const toFailure = ({ error, output }: ToolResult): string => error ?? output;

/** After these facts no more text of the reply comes. */
const afterReply: ReadonlySet<RecordedFact['type']> = new Set([
  'iteration.started',
  'iteration.restarted',
  'iteration.completed',
  'run.waiting',
  'run.completed',
  'run.stopped',
  'run.failed',
]);

const endsReply = (fact: RecordedFact): boolean =>
  fact.type === 'usage.recorded' ? fact.data.finish_reason !== 'continued' : afterReply.has(fact.type);

const beginsReply: ReadonlySet<RecordedFact['type']> = new Set([
  'iteration.started',
  'iteration.restarted',
  'model.retried',
  'model.fell_back',
]);

/**
 * Turns the events of a run, in their order, into the events of a response and the response itself. It has no clock and reads
 * nothing.
 *
 * A `sequence_number` is `f × 2^20 + units`: f is the seq of the last fact that was shown, and units count the frames since then,
 * and the UTF-16 units of text instead of its deltas. Text of a reply counts from the fact that began the reply, and calls within
 * it are shown after it, so the numbers are the same for each reader, in whatever pieces the text comes to it.
 */
export class ResponseTranslator {
  private fact: number;
  private units = 0;
  private readonly shown: Shown[] = [];
  private text: OpenText | undefined;
  private isInReply = false;
  private held: RecordedFact[] = [];
  private readonly sent = new Map<string, number>();
  private readonly calls = new Map<string, ToolCall>();
  private readonly callItems = new Map<string, number>();
  private closing: string | undefined;
  private usage: UsedTokens = nothingUsed;
  private ending: Ending | undefined;

  constructor(private readonly options: ResponseOptions) {
    this.fact = options.after;
    for (const call of options.approvedCalls ?? []) this.calls.set(call.id, call);
  }

  /** Nothing follows. */
  get isOver(): boolean {
    return this.ending !== undefined;
  }

  /** The response as far as it was translated. */
  get response(): Readonly<Record<string, unknown>> & { readonly status: string; readonly output: readonly Item[] } {
    const { status = 'in_progress', ...about } = this.ending ?? unfinished;
    const output = this.shown.filter(({ isWithdrawn }) => !isWithdrawn).map(({ item }) => item);
    return { ...this.options.head, status, ...about, output, usage: this.isOver ? toUsage(this.usage) : null };
  }

  begin(): Frame[] {
    const { response } = this;
    return [this.frame('response.created', { response }), this.frame('response.in_progress', { response })];
  }

  translate(event: SubscriberEvent): Frame[] {
    if (this.isOver || event.type === 'stream.snapshot') return [];
    if (isNotice(event)) return this.end('failed', { error: gapError, completed_at: null });
    return event.seq === null ? this.translateDelta(event) : this.translateFact(event);
  }

  private translateDelta(delta: DeltaEvent): Frame[] {
    if (delta.type !== 'message.delta' && delta.type !== 'reasoning.delta') return [];
    const kind = delta.type === 'message.delta' ? 'text' : 'reasoning';
    const stream = toStream(delta);
    const shown = this.sent.get(stream) ?? 0;
    // Thoughts after the first words of a message come with its fact, so that the order is that of the log.
    const isLate = kind === 'reasoning' && this.sent.has(toStream({ ...delta, type: 'message.delta' }));
    if (delta.offset > shown || isLate) return [];
    return this.say({ kind, streamId: delta.stream_id }, deltaText(delta).slice(shown - delta.offset));
  }

  private translateFact(fact: RecordedFact): Frame[] {
    const frames = this.closeBefore(fact);
    if (this.isInReply && !endsReply(fact)) {
      this.held.push(fact);
      return frames;
    }
    this.fact = fact.seq;
    this.units = 0;
    this.isInReply = beginsReply.has(fact.type);
    const facts = [...this.held.splice(0), fact];
    for (const each of facts) frames.push(...this.show(each));
    return frames;
  }

  /** What still belongs to the text before this fact. */
  private closeBefore(fact: RecordedFact): Frame[] {
    if (fact.type === 'message.created' && fact.data.message.type === 'assistant') return this.showRest(fact);
    if (fact.type === 'iteration.restarted') return this.withdraw(fact.data.withdrawn_stream_ids);
    return endsReply(fact) ? this.closeText('incomplete') : [];
  }

  /** What no delta has shown of a stored message. */
  private showRest(fact: Extract<RecordedFact, { type: 'message.created' }>): Frame[] {
    const { id: streamId, content } = fact.data.message;
    const texts = new Map(listStoredTexts(fact).map(({ type, text }) => [type, text]));
    const firstText = content.findIndex(({ type }) => type === 'text');
    const before = firstText < 0 ? content : content.slice(0, firstText);
    const leading = before.map((block) => (block.type === 'reasoning' ? block.text : '')).join('').length;
    const countSent = (type: 'message.delta' | 'reasoning.delta') =>
      this.sent.get(toStream({ type, stream_id: streamId })) ?? 0;
    const [thoughts = '', words = ''] = [texts.get('reasoning.delta'), texts.get('message.delta')];
    const hasWords = countSent('message.delta') > 0;
    const frames = hasWords
      ? []
      : this.say({ kind: 'reasoning', streamId }, thoughts.slice(countSent('reasoning.delta'), leading));
    frames.push(...this.say({ kind: 'text', streamId }, words.slice(countSent('message.delta'))));
    frames.push(
      ...this.say({ kind: 'reasoning', streamId, part: 'more' }, thoughts.slice(countSent('reasoning.delta'))),
    );
    return [...frames, ...this.closeText('completed')];
  }

  /** Text that a client has cannot be taken back. Its item ends as incomplete, and the response does not have it. */
  private withdraw(streamIds: readonly string[]): Frame[] {
    const frames = this.closeText('incomplete');
    for (const stream_id of streamIds)
      for (const type of ['message.delta', 'reasoning.delta'] as const) this.sent.delete(toStream({ type, stream_id }));
    for (const shown of this.shown) if (streamIds.includes(shown.streamId)) shown.isWithdrawn = true;
    return frames;
  }

  private show(fact: RecordedFact): Frame[] {
    if (isSilent(fact)) return [];
    switch (fact.type) {
      case 'tool.planned':
        return this.plan(fact.data.tool_call);
      case 'tool.started':
        return this.options.callerTools.has(fact.data.name)
          ? this.callClient(fact.data.tool_call_id)
          : this.showApproved(fact.data.tool_call_id);
      case 'tool.completed':
        return this.settleCall(fact.data.tool_call_id, { output: fact.data.result.output, error: null });
      case 'tool.failed':
        return this.settleCall(fact.data.tool_call_id, { output: null, error: toFailure(fact.data.result) });
      case 'tool.unknown':
        return fact.data.message_id === undefined
          ? []
          : this.settleCall(fact.data.tool_call_id, { output: null, error: fact.data.reason });
      case 'usage.recorded':
        this.usage = addCall(this.usage, fact.data);
        return [];
      case 'run.waiting':
        return this.wait(fact);
      case 'run.completed':
        return this.complete(fact);
      case 'run.stopped':
        return this.end('cancelled', { completed_at: toSeconds(fact.at) });
      case 'run.failed': {
        const { message } = fact.data.error;
        return this.end('failed', { error: { code: 'server_error', message }, completed_at: toSeconds(fact.at) });
      }
      case 'run.started':
      case 'run.resumed':
      case 'run.stop_requested':
      case 'iteration.started':
      case 'iteration.restarted':
      case 'iteration.completed':
      case 'message.created':
      case 'model.retried':
      case 'model.fell_back':
      case 'approval.requested':
      case 'approval.decided':
      case 'context.compacted':
        return [];
    }
  }

  /** The end of this response, which says what is waited for. What ends the wait begins the next one. Child runs are a pause. */
  private wait({ data, at, seq }: Extract<RecordedFact, { type: 'run.waiting' }>): Frame[] {
    const { reason, question } = data;
    const completed_at = toSeconds(at);
    if (reason === 'child_runs') return [];
    const words = describeOtherWait(data);
    if (words !== undefined) {
      const ending = { incomplete_details: { reason: toIncompleteReason(reason) }, completed_at };
      return [...this.sayWhole(`wait_${seq}`, words), ...this.end('incomplete', ending)];
    }
    const frames = (data.approvals ?? []).flatMap(({ tool_call_id: id }) => this.askApproval(id));
    if (reason === 'ask' && question) {
      const { tool_call_id: id, text } = question;
      const isDeclared = this.options.declaresAsk && this.calls.get(id)?.name === 'ask'; // other tools ask, too
      frames.push(...(isDeclared ? this.callClient(id) : this.sayWhole(id, text)));
    }
    return [...frames, ...this.end('completed', { completed_at })];
  }

  /** Tools of Rondo are those of a server to the client, and it approves their calls as such. */
  private askApproval(callId: string): Frame[] {
    const call = this.calls.get(callId);
    if (!call) return [];
    const item = {
      ...{ id: toItemId('mcpr', this.options.runId, callId), type: 'mcp_approval_request', server_label: 'rondo' },
      ...{ name: call.name, arguments: JSON.stringify(call.arguments), status: 'completed' as const },
    };
    const index = this.shown.length;
    return [this.add(item, callId), this.finish(index, item)];
  }

  /** A call that was planned before this response. */
  private showApproved(callId: string): Frame[] {
    const call = this.options.approvedCalls?.find(({ id }) => id === callId);
    return call && !this.callItems.has(callId) ? this.plan(call) : [];
  }

  private complete({ data, at }: Extract<RecordedFact, { type: 'run.completed' }>): Frame[] {
    const completed_at = toSeconds(at);
    const words =
      this.closing === undefined ? [] : this.sayWhole(`answer_${this.options.runId.slice(4)}`, this.closing);
    if (isWhole.has(data.finish_reason)) return [...words, ...this.end('completed', { completed_at })];
    return [...words, ...this.end('incomplete', { incomplete_details: { reason: 'max_output_tokens' }, completed_at })];
  }

  private say(
    {
      kind,
      streamId,
      part = '',
    }: { readonly kind: OpenText['kind']; readonly streamId: string; readonly part?: string },
    text: string,
  ): Frame[] {
    if (text === '') return [];
    const itemId = toItemId(kind === 'text' ? 'msg' : 'rs', this.options.runId, streamId + part);
    const frames =
      this.text?.itemId === itemId
        ? []
        : [...this.closeText('completed'), ...this.openText(kind, { itemId, streamId })];
    const open = this.text;
    if (!open) return frames;
    open.text += text;
    const type = kind === 'text' ? 'message.delta' : 'reasoning.delta';
    const stream = toStream({ type, stream_id: streamId });
    this.sent.set(stream, (this.sent.get(stream) ?? 0) + text.length);
    this.replace(open.index, kind === 'text' ? toMessage(open, 'in_progress') : toReasoning(open, 'in_progress'));
    const about = { item_id: itemId, output_index: open.index, delta: text };
    frames.push(
      kind === 'text'
        ? this.frame('response.output_text.delta', { ...about, content_index: 0, logprobs: [] })
        : this.frame('response.reasoning_summary_text.delta', { ...about, summary_index: 0 }),
    );
    return frames;
  }

  private openText(kind: OpenText['kind'], { itemId, streamId }: { itemId: string; streamId: string }): Frame[] {
    const index = this.shown.length;
    this.text = { kind, index, itemId, text: '' };
    const about = { item_id: itemId, output_index: index };
    const base = { id: itemId, status: 'in_progress' } as const;
    const item: Item =
      kind === 'text'
        ? { ...base, type: 'message', role: 'assistant', content: [] }
        : { ...base, type: 'reasoning', summary: [] };
    const added = this.add(item, streamId);
    const part =
      kind === 'text'
        ? this.frame('response.content_part.added', { ...about, content_index: 0, part: toTextPart('') })
        : this.frame('response.reasoning_summary_part.added', { ...about, summary_index: 0, part: toSummary('') });
    return [added, part];
  }

  private closeText(status: 'completed' | 'incomplete'): Frame[] {
    const { text: open } = this;
    this.text = undefined;
    if (!open) return [];
    const { kind, index, itemId, text } = open;
    const about = { item_id: itemId, output_index: index };
    const done =
      kind === 'text'
        ? [
            this.frame('response.output_text.done', { ...about, content_index: 0, text, logprobs: [] }),
            this.frame('response.content_part.done', { ...about, content_index: 0, part: toTextPart(text) }),
          ]
        : [
            this.frame('response.reasoning_summary_text.done', { ...about, summary_index: 0, text }),
            this.frame('response.reasoning_summary_part.done', { ...about, summary_index: 0, part: toSummary(text) }),
          ];
    return [...done, this.finish(index, kind === 'text' ? toMessage(open, status) : toReasoning(open, status))];
  }

  /** Words that were not streamed. */
  private sayWhole(id: string, text: string): Frame[] {
    return [...this.say({ kind: 'text', streamId: id }, text), ...this.closeText('completed')];
  }

  /** Calls of tools that Rondo runs are shown when they are planned. `complete` and questions are no tools to the client. */
  private plan(call: ToolCall): Frame[] {
    this.closing = readClosingWords(call) ?? this.closing;
    this.calls.set(call.id, call);
    if (call.name === 'complete' || isQuestion(call.name) || this.options.callerTools.has(call.name)) return [];
    const [id, index] = [toItemId('mcp', this.options.runId, call.id), this.shown.length];
    this.callItems.set(call.id, index);
    const isApproved = this.options.approvedCalls?.includes(call) ?? false;
    const approval_request_id = isApproved ? toItemId('mcpr', this.options.runId, call.id) : null;
    const item = toMcpCall({ id, name: call.name, arguments: '', approval_request_id });
    const written = JSON.stringify(call.arguments);
    const added = this.add(item, call.id);
    this.replace(index, { ...item, arguments: written });
    const about = { item_id: id, output_index: index };
    return [
      added,
      this.frame('response.mcp_call.in_progress', about),
      this.frame('response.mcp_call_arguments.delta', { ...about, delta: written }),
      this.frame('response.mcp_call_arguments.done', { ...about, arguments: written }),
    ];
  }

  private settleCall(callId: string, { output, error }: { output: string | null; error: string | null }): Frame[] {
    const frames = this.showApproved(callId);
    const index = this.callItems.get(callId);
    const item = index === undefined ? undefined : this.shown[index]?.item;
    if (index === undefined || !item || item.status !== 'in_progress') return [];
    const status = error === null ? 'completed' : 'failed';
    const ended = this.frame(`response.mcp_call.${status}`, { item_id: item.id, output_index: index });
    return [...frames, ended, this.finish(index, { ...item, status, output, error })];
  }

  /** A call that the client answers. */
  private callClient(callId: string): Frame[] {
    const call = this.calls.get(callId);
    if (!call || this.callItems.has(callId)) return [];
    const [id, index] = [toItemId('fc', this.options.runId, call.id), this.shown.length];
    this.callItems.set(call.id, index);
    const item = { id, type: 'function_call', call_id: call.id, name: call.name } as const;
    const written = JSON.stringify(call.arguments);
    const about = { item_id: id, output_index: index };
    return [
      this.add({ ...item, status: 'in_progress', arguments: '' }, call.id),
      this.frame('response.function_call_arguments.delta', { ...about, delta: written }),
      this.frame('response.function_call_arguments.done', { ...about, name: call.name, arguments: written }),
      this.finish(index, { ...item, status: 'completed', arguments: written }),
    ];
  }

  private end(status: Ending['status'], about: Partial<Ending> & Pick<Ending, 'completed_at'>): Frame[] {
    const frames = this.closeText('incomplete');
    for (const [index, { item }] of this.shown.entries())
      if (item.status === 'in_progress') frames.push(this.finish(index, { ...item, status: 'incomplete' }));
    this.ending = { error: null, incomplete_details: null, ...about, status };
    const type = status === 'cancelled' ? 'incomplete' : status;
    return [...frames, this.frame(`response.${type}`, { response: this.response })];
  }

  private add(item: Item, streamId: string): Frame {
    const output_index = this.shown.push({ item, streamId, isWithdrawn: false }) - 1;
    return this.frame('response.output_item.added', { output_index, item });
  }

  private finish(index: number, item: Item): Frame {
    this.replace(index, item);
    return this.frame('response.output_item.done', { output_index: index, item });
  }

  private replace(index: number, item: Item): void {
    const shown = this.shown[index];
    if (shown) shown.item = item;
  }

  private frame(type: string, fields: Readonly<Record<string, unknown>>): Frame {
    this.units += measure(fields);
    return { type, ...fields, sequence_number: toInteger({ facts: this.fact, units: this.units }) };
  }
}

/** A delta takes as many positions as its text has units, so that it has the same number however it was cut. */
const measure = ({ delta }: Readonly<Record<string, unknown>>): number =>
  typeof delta === 'string' ? delta.length : 1;

/** The frames after a position, of a delta that goes beyond it the rest. */
export function skipTo(position: number, frames: readonly Frame[]): Frame[] {
  return frames.flatMap((frame) => {
    const { sequence_number: end, delta } = frame as Frame & { delta?: unknown };
    if (end <= position) return [];
    const begin = end - measure(frame);
    if (typeof delta !== 'string' || begin >= position) return [frame];
    return [{ ...frame, delta: delta.slice(position - begin) }];
  });
}

const unfinished: Omit<Ending, 'status'> & { readonly status?: undefined } = {
  error: null,
  incomplete_details: null,
  completed_at: null,
};

const gapError = { code: 'server_error', message: 'Events of this run have been deleted, so it cannot be shown here.' };

/** The run ended as it wanted to. Elsewhere a limit ended it. */
const isWhole: ReadonlySet<string> = new Set(['stop', 'complete', 'ask', 'tool_calls']);

export const toSeconds = (time: string): number => Math.floor(Date.parse(time) / 1000);

/** A budget is a limit of the answer. The protocol has no word for the others. */
const toIncompleteReason = (reason: Waiting['reason']): string =>
  reason === 'budget' ? 'max_output_tokens' : `waiting_${reason}`;
