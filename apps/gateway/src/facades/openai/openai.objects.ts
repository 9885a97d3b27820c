import type { Message, RecordedFact, Run, UserBlock } from '@rondo/contract';
import { isNoteToAgent } from '@rondo/domain';
import type { NamedAgent, Thread } from '@rondo/persistence';
import { type Segment, toConversationId, toItemId, toResponseId } from './openai-ids';
import { type Item } from './openai.items';
import { type ResponseHead, type ResponseOptions, toSeconds } from './openai.translate';
import { refuseField } from '../../problems/api-error';

/** Keys of the metadata of a run that are the façade's own. */
export const ownKeys = {
  model: 'openai_model',
  previous: 'openai_previous',
  background: 'openai_background',
  declaresAsk: 'openai_ask',
} as const;

const own: ReadonlySet<string> = new Set(Object.values(ownKeys));

/** What a client stored with a run. */
export const toShownMetadata = (metadata: Run['metadata']): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata).filter(([key]) => !own.has(key)));

/** With the calls that an approval was asked for before the response. */
export function withApproved(options: ResponseOptions, facts: readonly RecordedFact[]): ResponseOptions {
  const waits = facts.flatMap((fact) => (fact.type === 'run.waiting' && fact.seq <= options.after ? [fact.data] : []));
  const awaited = new Set(waits.flatMap(({ approvals = [] }) => approvals.map(({ tool_call_id: id }) => id)));
  const planned = facts.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call] : []));
  return { ...options, approvedCalls: planned.filter(({ id }) => awaited.has(id)) };
}

/** The fields that a response has from the beginning. `previous` is the segment before it, of the same run. */
export function toResponseOptions(run: Run, segment: Segment, previous: Segment | undefined): ResponseOptions {
  const { metadata, settings } = run;
  const { llm, caller_tools: tools = [], agent } = settings;
  const declaresAsk = metadata[ownKeys.declaresAsk] !== undefined;
  const head: ResponseHead = {
    id: toResponseId(segment),
    access_programs: null,
    object: 'response',
    created_at: toSeconds(run.created_at),
    model: metadata[ownKeys.model] ?? settings.model,
    background: metadata[ownKeys.background] !== undefined,
    conversation: { id: toConversationId(run.thread_id) },
    previous_response_id: previous ? toResponseId(previous) : (metadata[ownKeys.previous] ?? null),
    instructions: run.agent_id === null ? (agent.system_prompt ?? null) : null,
    metadata: toShownMetadata(metadata),
    tools: tools.map(({ name, description, parameters = null }) => ({
      ...{ type: 'function', name, description, parameters },
      strict: false,
    })),
    tool_choice: llm.tool_choice ?? 'auto',
    parallel_tool_calls: true,
    max_output_tokens: llm.max_tokens ?? null,
    max_tool_calls: null,
    temperature: llm.temperature ?? null,
    top_p: llm.top_p ?? null,
    top_logprobs: 0,
    reasoning: { effort: llm.reasoning_effort ?? null, summary: null },
    text: { format: toFormat(llm.response_format), verbosity: 'medium' },
    truncation: 'disabled',
    service_tier: 'default',
    store: true,
    prompt: null,
    safety_identifier: null,
    prompt_cache_key: null,
    user: null,
    /** Where the run is found in Rondo's own API and console. */
    rondo: { run_id: run.id, thread_id: run.thread_id },
  };
  return { ...segment, head, declaresAsk, callerTools: new Set(tools.map(({ name }) => name)) };
}

/** The format as Responses have it. Providers are sent that of Chat Completions. */
function toFormat(format: Run['settings']['llm']['response_format']): object {
  const { json_schema: schema, ...rest } = format ?? { type: 'text' };
  return { ...rest, ...(typeof schema === 'object' && schema) };
}

/** What a segment of a run was asked: messages of the user, and results of the client's calls. */
export function toInputItems(facts: readonly RecordedFact[], { runId }: Segment): Item[] {
  return facts.flatMap((fact): Item[] => {
    if (fact.type === 'message.created' && fact.data.message.type === 'user') {
      const { message } = fact.data;
      return isNoteToAgent(message) ? [] : [toUserItem(message, toItemId('msg', runId, message.id))];
    }
    if ((fact.type !== 'tool.completed' && fact.type !== 'tool.failed') || fact.data.answered_by === undefined)
      return [];
    const { tool_call_id: call_id, result } = fact.data;
    const id = toItemId('fco', runId, call_id);
    return [{ id, type: 'function_call_output', status: 'completed', call_id, output: result.error ?? result.output }];
  });
}

export const toUserItem = ({ content }: Pick<Message, 'content'>, id: string): Item => ({
  id,
  type: 'message',
  role: 'user',
  status: 'completed',
  content: content.flatMap((block) => (isUserBlock(block) ? [toInputPart(block)] : [])),
});

const isUserBlock = (block: Message['content'][number]): block is UserBlock =>
  block.type === 'text' || block.type === 'image';

const toInputPart = (block: UserBlock): object =>
  block.type === 'text'
    ? { type: 'input_text', text: block.text }
    : { type: 'input_image', detail: 'auto', file_id: null, image_url: null };

export const toConversation = ({ id, created_at, metadata }: Thread): object => ({
  id: toConversationId(id),
  object: 'conversation',
  created_at: toSeconds(created_at),
  metadata,
});

export interface ItemQuery {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** The id of the item before the page. */
  readonly after?: string | undefined;
}

/** A page of items, which are given oldest first. Throws InvalidRequest where there is none that it comes after. */
export function toItemList(items: readonly Item[], { limit, order, after }: ItemQuery): object {
  const inOrder = order === 'asc' ? items : items.toReversed();
  const last = inOrder.findIndex(({ id }) => id === after);
  if (after !== undefined && last < 0) throw refuseField('after', `there is no item ${after}`);
  const data = inOrder.slice(last + 1);
  const page = data.slice(0, limit);
  const [first_id, last_id] = [page[0]?.id ?? null, page.at(-1)?.id ?? null];
  return { object: 'list', data: page, first_id, last_id, has_more: data.length > limit };
}

export const toAgentModel = ({ name, created_at }: Pick<NamedAgent, 'name' | 'created_at'>) => ({
  id: name,
  object: 'model',
  created: toSeconds(created_at),
  owned_by: 'rondo-agent',
});

export const toModel = (id: string) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: id.split('/')[0] ?? 'rondo',
});
