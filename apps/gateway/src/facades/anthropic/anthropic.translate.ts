import {
  type ContentBlock,
  type FactWithType,
  type ModelErrorCode,
  type RecordedFact,
  type Run,
  type RunError,
  type ToolCall,
  modelErrorCode,
} from '@rondo/contract';
import { deltaText, isNoteToAgent, readQueuedRun } from '@rondo/domain';
import { type SubscriberEvent, isNotice } from '../../live/stream-notices';
import { describeOtherWait, describeShortEnd, readClosingWords } from '../run-answer';
import { isSilent } from '../silent-facts';
import { toAnthropicToolName } from './anthropic-tools';

/** An event as the client reads it, in the form that its type has there. */
export type SessionEvent = { readonly type: string; readonly id: string; readonly processed_at: string } & Readonly<
  Record<string, unknown>
>;

/** A preview of a message that is being written. It has no id of its own, and is in no list. */
type Preview =
  | { type: 'event_start'; event: { type: 'agent.message' | 'agent.thinking'; id: string } }
  | {
      type: 'event_delta';
      event_id: string;
      delta: { type: 'content_delta'; index: 0; content: { type: 'text'; text: string } };
    };

export interface TranslatorOptions {
  /** Which previews the client wants. */
  readonly previews: ReadonlySet<string>;
}

export interface Translated {
  readonly events: readonly SessionEvent[];
  readonly previews: readonly Preview[];
}

const suffix = (id: string): string => id.slice(id.indexOf('_') + 1);
/** Ids follow from the log, so that what is streamed, listed and answered has the same one. */
export const eventIds = {
  input: (runId: string, place = 0) => `sevt_${suffix(runId)}_u${place}`,
  message: (messageId: string) => `sevt_${suffix(messageId)}_m`,
  thinking: (messageId: string) => `sevt_${suffix(messageId)}_t`,
  words: (callId: string) => `sevt_${suffix(callId)}_w`,
  answer: (callId: string) => `sevt_${suffix(callId)}_a`,
  confirmation: (callId: string) => `sevt_${suffix(callId)}_c`,
  result: (callId: string) => `sevt_${suffix(callId)}_r`,
  interrupt: (runId: string) => `sevt_${suffix(runId)}_i`,
  of: (fact: RecordedFact, place = 0) => `sevt_${suffix(fact.id)}_${place}`,
} as const;

/** The run metadata that says how many blocks of the input each message has, for example `1,2`. */
export const blockCountsKey = 'anthropic_blocks';

const nothing: Translated = { events: [], previews: [] };
const keepEvents = (...events: SessionEvent[]): Translated => ({ events, previews: [] });

/** Tools that are shown as messages, and not as calls. */
const silent: ReadonlySet<string> = new Set(['ask', 'complete']);

/**
 * What a client of Claude Managed Agents sees of one run: facts and deltas in, events out, without I/O and without a clock. It
 * has to see the run from its first fact.
 */
export class AnthropicTranslator {
  private readonly callerTools: ReadonlySet<string>;
  /** Planned calls that were not shown: whether they need a confirmation is not known yet. */
  private readonly planned = new Map<string, { call: ToolCall; fact: RecordedFact }>();
  private readonly names = new Map<string, string>();
  /** The id of the model request that is open. */
  private request: string | undefined;
  /** The session has told of a retry, and of nothing since. */
  private isRescheduled = false;
  /** Messages that a preview was begun for, and the length that was shown. */
  private readonly previewed = new Map<string, number>();

  constructor(
    private readonly run: Pick<Run, 'id' | 'settings' | 'metadata'>,
    private readonly options: TranslatorOptions,
  ) {
    this.callerTools = new Set(run.settings.caller_tools?.map(({ name }) => name));
  }

  translate(event: SubscriberEvent): Translated {
    if (isNotice(event)) return nothing;
    if (event.seq !== null) return this.translateFact(event);
    if (event.type === 'reasoning.delta')
      return this.startPreview('agent.thinking', eventIds.thinking(event.stream_id));
    if (event.type !== 'message.delta' || !this.options.previews.has('agent.message')) return nothing;
    return this.previewText(eventIds.message(event.stream_id), event.offset, deltaText(event));
  }

  private startPreview(type: 'agent.message' | 'agent.thinking', id: string): Translated {
    if (!this.options.previews.has(type) || this.previewed.has(id)) return nothing;
    this.previewed.set(id, 0);
    return { events: [], previews: [{ type: 'event_start', event: { type, id } }] };
  }

  private previewText(id: string, offset: number, text: string): Translated {
    const { previews } = this.startPreview('agent.message', id);
    const shown = this.previewed.get(id) ?? 0;
    const added = offset > shown ? '' : text.slice(shown - offset);
    if (added === '') return { events: [], previews };
    this.previewed.set(id, shown + added.length);
    const delta = { type: 'content_delta', index: 0, content: { type: 'text', text: added } } as const;
    return { events: [], previews: [...previews, { type: 'event_delta', event_id: id, delta }] };
  }

  /** What follows a retry shows that the session works again. */
  private translateFact(fact: RecordedFact): Translated {
    const shown = this.showFact(fact);
    const isRetry = fact.type === 'model.retried' || fact.type === 'model.fell_back';
    const worksAgain = this.isRescheduled && !isRetry && shown.events.length > 0;
    this.isRescheduled = isRetry ? shown.events.length > 0 : this.isRescheduled && !worksAgain;
    return worksAgain ? keepEvents(toRunning(fact, 4), ...shown.events) : shown;
  }

  private showFact(fact: RecordedFact): Translated {
    if (isSilent(fact)) return nothing;
    switch (fact.type) {
      case 'message.created':
        return keepEvents(...this.showMessage(fact));
      case 'run.started':
      case 'run.resumed':
        return keepEvents(toRunning(fact));
      case 'iteration.started':
      case 'iteration.restarted':
        return keepEvents(...this.endRequest(fact), this.startRequest(fact));
      case 'usage.recorded':
        return keepEvents(...this.openRequest(fact), ...this.endRequest(fact, fact.data));
      case 'tool.planned':
        return keepEvents(...this.plan(fact));
      case 'approval.requested':
        return keepEvents(...this.showCall(fact.data.tool_call_id, 'ask'));
      case 'tool.started':
        return keepEvents(...this.showCall(fact.data.tool_call_id, 'allow'));
      case 'approval.decided':
        return keepEvents(...showDecision(fact));
      case 'tool.completed':
      case 'tool.failed':
        return keepEvents(...this.showResult(fact));
      case 'tool.unknown':
        return keepEvents(...(fact.data.message_id === undefined ? [] : this.showUnknown(fact)));
      case 'run.waiting':
        return keepEvents(...this.wait(fact));
      case 'run.stop_requested':
        return keepEvents({ type: 'user.interrupt', id: eventIds.interrupt(fact.run_id), processed_at: fact.at });
      case 'context.compacted':
        return keepEvents({ type: 'agent.thread_context_compacted', id: eventIds.of(fact), processed_at: fact.at });
      case 'model.retried':
      case 'model.fell_back':
        return isPaced(fact) ? nothing : keepEvents(this.showRetry(fact), toRescheduled(fact));
      case 'run.completed':
        return keepEvents(...this.endRequest(fact), ...this.complete(fact));
      case 'run.stopped':
        return keepEvents(...this.endRequest(fact), this.idle(fact, { type: 'end_turn' }, 1));
      case 'run.failed':
        return keepEvents(...this.endRequest(fact), ...this.giveUp(fact, toError(fact.data.error)));
      case 'iteration.completed':
        return nothing;
    }
  }

  private showMessage(fact: FactWithType<'message.created'>): SessionEvent[] {
    const { id, type, content } = fact.data.message;
    if (type === 'user') return isNoteToAgent(fact.data.message) ? [] : this.showInput(fact);
    if (type !== 'assistant') return [];
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const events: SessionEvent[] = [];
    if (content.some((block) => block.type === 'reasoning'))
      events.push({ type: 'agent.thinking', id: eventIds.thinking(id), processed_at: fact.at });
    if (text.trim() !== '') events.push(toMessage(eventIds.message(id), text, fact.at));
    return events;
  }

  private showInput(fact: FactWithType<'message.created'>): SessionEvent[] {
    const { message } = fact.data;
    const shown = message.content.map(toShownBlock);
    const said = { type: 'user.message', content: shown, processed_at: fact.at } as const;
    const answers = message.metadata['answers_tool_call_id'];
    if (typeof answers === 'string') return [{ ...said, id: eventIds.answer(answers) }];
    const queued = readQueuedRun(message);
    if (queued !== undefined) return [{ ...said, id: eventIds.input(queued) }];
    return splitInput(shown, this.run.metadata[blockCountsKey]).map((blocks, place) => ({
      type: 'user.message',
      id: eventIds.input(fact.run_id, place),
      content: blocks,
      processed_at: fact.at,
    }));
  }

  private startRequest(fact: RecordedFact): SessionEvent {
    this.request = eventIds.of(fact, 1);
    return { type: 'span.model_request_start', id: this.request, processed_at: fact.at };
  }

  /** A reply can take several requests, of which only the first one has a fact of its own. */
  private openRequest(fact: RecordedFact): SessionEvent[] {
    return this.request === undefined ? [this.startRequest(fact)] : [];
  }

  private endRequest(fact: RecordedFact, usage?: FactWithType<'usage.recorded'>['data']): SessionEvent[] {
    const { request } = this;
    if (request === undefined) return [];
    this.request = undefined;
    const { input_tokens = 0, cached_tokens = 0, output_tokens = 0, cache_write_tokens = 0, error } = usage ?? {};
    const model_usage = {
      input_tokens: Math.max(0, input_tokens - cached_tokens - cache_write_tokens),
      output_tokens,
      cache_read_input_tokens: cached_tokens,
      cache_creation_input_tokens: cache_write_tokens,
    };
    const is_error = usage === undefined || error !== undefined;
    const end = { id: eventIds.of(fact), processed_at: fact.at, is_error, model_usage };
    return [{ type: 'span.model_request_end', ...end, model_request_start_id: request }];
  }

  private plan(fact: FactWithType<'tool.planned'>): SessionEvent[] {
    const { tool_call: call } = fact.data;
    this.names.set(call.id, call.name);
    const words = readClosingWords(call);
    if (words !== undefined) return [toMessage(eventIds.words(call.id), words, fact.at)];
    if (!silent.has(call.name)) this.planned.set(call.id, { call, fact });
    return [];
  }

  /** Once for each call, as soon as it is known whether it needs a confirmation. */
  private showCall(callId: string, permission: 'allow' | 'ask'): SessionEvent[] {
    const planned = this.planned.get(callId);
    if (!planned) return [];
    this.planned.delete(callId);
    const { call, fact } = planned;
    const about = { id: call.id, input: call.arguments, processed_at: fact.at };
    if (this.callerTools.has(call.name)) return [{ type: 'agent.custom_tool_use', ...about, name: call.name }];
    const evaluated = {
      evaluated_permission: permission,
      evaluation: { type: permission === 'ask' ? 'always_ask' : 'always_allow' } as const,
    };
    const [server, tool] = splitServerTool(call.name);
    if (server !== undefined)
      return [{ type: 'agent.mcp_tool_use', ...about, ...evaluated, name: tool, mcp_server_name: server }];
    return [{ type: 'agent.tool_use', ...about, ...evaluated, name: toAnthropicToolName(call.name) }];
  }

  private showResult(fact: FactWithType<'tool.completed' | 'tool.failed'>): SessionEvent[] {
    const { tool_call_id: id, name, result } = fact.data;
    if (silent.has(name)) return [];
    const text = result.success ? result.output : (result.error ?? result.output);
    return [...this.showCall(id, 'allow'), ...this.showOutcome(fact, { id, name, text, isError: !result.success })];
  }

  private showUnknown(fact: FactWithType<'tool.unknown'>): SessionEvent[] {
    const { tool_call_id: id, name, reason } = fact.data;
    return [...this.showCall(id, 'allow'), ...this.showOutcome(fact, { id, name, text: reason, isError: true })];
  }

  private showOutcome(
    fact: RecordedFact,
    { id, name, text, isError }: { id: string; name: string; text: string; isError: boolean },
  ): SessionEvent[] {
    const about = { id: eventIds.result(id), processed_at: fact.at, is_error: isError };
    const content = text === '' ? [] : [{ type: 'text' as const, text }];
    if (this.callerTools.has(name))
      return [{ type: 'user.custom_tool_result', ...about, custom_tool_use_id: id, content }];
    if (splitServerTool(name)[0] !== undefined)
      return [{ type: 'agent.mcp_tool_result', ...about, mcp_tool_use_id: id, content }];
    return [{ type: 'agent.tool_result', ...about, tool_use_id: id, content }];
  }

  /** After a part of the answers, another of these facts says what is still awaited: answers of one request are one step. */
  private wait(fact: FactWithType<'run.waiting'>): SessionEvent[] {
    const { reason, question, approvals = [], tool_calls: calls = [], elicitations = [] } = fact.data;
    const unknown = reason === 'tool_unknown' && question ? [question] : [];
    const awaited = new Set([...approvals, ...calls, ...elicitations, ...unknown].map(({ tool_call_id: id }) => id));
    const words = reason === 'budget' ? undefined : describeOtherWait(fact.data);
    const told = words === undefined ? [] : [toMessage(eventIds.of(fact, 3), words, fact.at)];
    const shown = [...awaited].flatMap((id) => this.showCall(id, reason === 'approval' ? 'ask' : 'allow'));
    if (awaited.size > 0)
      return [...shown, ...told, this.idle(fact, { type: 'requires_action', event_ids: [...awaited] })];
    if (reason === 'child_runs') return [];
    if (reason === 'budget') return [this.idle(fact, { type: 'budget_reached' })];
    const asked = question?.text ? [toMessage(eventIds.words(question.tool_call_id), question.text, fact.at)] : [];
    return [...asked, this.idle(fact, { type: 'end_turn' })];
  }

  private idle(fact: RecordedFact, stop_reason: StopReason, place = 0): SessionEvent {
    const id = eventIds.of(fact, place);
    return { type: 'session.status_idle', id, processed_at: fact.at, stop_reason, stop_details: null };
  }

  private showRetry(fact: FactWithType<'model.retried' | 'model.fell_back'>): SessionEvent {
    return {
      type: 'session.error',
      id: eventIds.of(fact),
      processed_at: fact.at,
      error: { ...toError(fact.data.error), retry_status: { type: 'retrying' } },
    };
  }

  /** A run that a limit has cut off did not do what was asked. */
  private complete(fact: FactWithType<'run.completed'>): SessionEvent[] {
    const { finish_reason: reason } = fact.data;
    const message = describeShortEnd(reason);
    if (message === undefined) return [this.idle(fact, { type: 'end_turn' }, 1)];
    if (reason === 'budget_exceeded') return [this.idle(fact, { type: 'budget_reached' }, 1)];
    const type = reason === 'max_iterations' ? 'tool_use_limit_reached_error' : 'unknown_error';
    return this.giveUp(fact, { type, message });
  }

  private giveUp(fact: RecordedFact, about: SessionError): SessionEvent[] {
    const error = { ...about, retry_status: { type: 'exhausted' } as const };
    return [
      { type: 'session.error', id: eventIds.of(fact, 1), processed_at: fact.at, error },
      this.idle(fact, { type: 'retries_exhausted' }, 2),
    ];
  }
}

function showDecision(fact: FactWithType<'approval.decided'>): SessionEvent[] {
  const { tool_call_id: id, outcome, reason } = fact.data;
  if (outcome === 'expire') return [];
  const said = { id: eventIds.confirmation(id), tool_use_id: id, processed_at: fact.at };
  const decided =
    outcome === 'deny' ? { result: 'deny', deny_message: reason } : { result: 'allow', deny_message: null };
  return [{ type: 'user.tool_confirmation', ...said, ...decided }];
}

type StopReason =
  { type: 'end_turn' | 'retries_exhausted' | 'budget_reached' } | { type: 'requires_action'; event_ids: string[] };

const toMessage = (id: string, text: string, at: string): SessionEvent => ({
  type: 'agent.message',
  id,
  content: [{ type: 'text', text }],
  processed_at: at,
});

type ShownBlock = { type: 'text'; text: string } | { type: 'redacted' };

/** Images are kept under a hash, which is no address for this client. */
const toShownBlock = (block: ContentBlock): ShownBlock =>
  block.type === 'text' ? { type: 'text', text: block.text } : { type: 'redacted' };

/** The messages of an input that was sent as several. A note that was added at the end belongs to the last one. */
function splitInput(blocks: readonly ShownBlock[], counts: string | undefined): ShownBlock[][] {
  const lengths = (counts ?? '').split(',').map(Number);
  if (counts === undefined || lengths.length < 2) return [[...blocks]];
  let from = 0;
  return lengths.map((length, index) => {
    const end = index === lengths.length - 1 ? blocks.length : from + length;
    const message = blocks.slice(from, end);
    from = end;
    return message;
  });
}

/** Tools of MCP servers are named `server__tool`. */
function splitServerTool(name: string): [server: string | undefined, tool: string] {
  const at = name.indexOf('__');
  return at <= 0 ? [undefined, name] : [name.slice(0, at), name.slice(at + 2)];
}

interface SessionError {
  readonly type: string;
  readonly message: string;
}

/** What the client calls failures of models. Others than these are requests that have failed. */
const modelErrors: Partial<Record<ModelErrorCode, string>> = {
  rate_limit: 'model_rate_limited_error',
  service_unavailable: 'model_overloaded_error',
  budget_exceeded: 'billing_error',
};

/** A run fails for other reasons than its model, too. */
function toError({ code, message }: RunError): SessionError {
  const { data: known = code === 'model_no_reply' ? 'api_error' : undefined } = modelErrorCode.safeParse(code);
  if (known === undefined) return { type: 'unknown_error', message };
  return { type: modelErrors[known] ?? 'model_request_failed_error', message };
}

/** Nothing was refused: the request waits for the pace of its provider. */
const isPaced = ({ data }: FactWithType<'model.retried' | 'model.fell_back'>): boolean =>
  'paced_by' in data && data.paced_by !== undefined;

const toRunning = (fact: RecordedFact, place = 0): SessionEvent => ({
  type: 'session.status_running',
  id: eventIds.of(fact, place),
  processed_at: fact.at,
});

const toRescheduled = (fact: RecordedFact): SessionEvent => ({
  type: 'session.status_rescheduled',
  id: eventIds.of(fact, 1),
  processed_at: fact.at,
});
