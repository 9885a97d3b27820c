import type { ContentBlock, Message, ToolCallBlock, ToolResultBlock, Waiting } from '@rondo/contract';
import { isNoteToAgent, readQueuedRun } from '@rondo/domain';
import { isQuestion, readClosingWords } from '../run-answer';

interface GraphToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly type: 'tool_call';
}

/** A message as LangChain writes it in JSON. */
export type GraphMessage = {
  readonly type: 'human' | 'ai' | 'tool' | 'AIMessageChunk';
  readonly id: string;
  readonly content: string | readonly object[];
} & Readonly<Record<string, unknown>>;

/** What a thread waits for. */
export interface GraphInterrupt {
  readonly id: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A message of the client: its id, and how many blocks of the input are its own. */
export type InputName = readonly [name: string | null, blocks: number];

/** What clients call messages. */
export interface MessageNames {
  /** The messages that the input of a run was sent as. Undefined for a run that was begun elsewhere. */
  readonly inputs: (runId: string) => readonly InputName[] | undefined;
  /** By the id of a message, or of the call that it answers. */
  readonly others: ReadonlyMap<string, string>;
}

export const noNames: MessageNames = { inputs: () => undefined, others: new Map() };

type StoredMessage = Pick<Message, 'id' | 'type' | 'is_llm_message' | 'content' | 'metadata' | 'run_id'>;

/**
 * The messages of a thread in the form of LangChain, from its stored messages in their order. `complete` is no tool there: what
 * it says is the last message. The result of `ask` is its answer, so a question without one has no result.
 */
export class MessageState {
  private readonly all: GraphMessage[] = [];
  private readonly calls = new Map<string, ToolCallBlock>();
  private readonly closings = new Map<string, string>();
  private readonly laterInputs = new Map<string, readonly InputName[]>();

  constructor(private readonly names: MessageNames) {}

  /** What the client calls the input of a run that has begun since. */
  nameInput(runId: string, inputs: readonly InputName[]): void {
    this.laterInputs.set(runId, inputs);
  }

  get messages(): readonly GraphMessage[] {
    return this.all;
  }

  /** The messages that it becomes, if any. */
  add(message: StoredMessage): readonly GraphMessage[] {
    const added = this.read(message);
    this.all.push(...added);
    return added;
  }

  /** The call with this id, as the model wrote it. */
  findCall(id: string): Pick<ToolCallBlock, 'name' | 'arguments'> | undefined {
    return this.calls.get(id);
  }

  private read(message: StoredMessage): readonly GraphMessage[] {
    switch (message.type) {
      case 'user':
        return isNoteToAgent(message) ? [] : this.readUser(message);
      case 'assistant':
        return this.readAssistant(message);
      case 'tool':
        if (!message.is_llm_message) return []; // of a call that a program made
        return message.content.flatMap((block) =>
          block.type === 'tool_result' ? this.readResult(message.id, block) : [],
        );
      case 'summary':
      case 'browser_state':
      case 'image_context':
      case 'status':
        return [];
    }
  }

  private readUser(message: StoredMessage): GraphMessage[] {
    const { id, content, run_id: runId, metadata } = message;
    const answered = metadata['answers_tool_call_id'];
    const name = this.names.others.get(typeof answered === 'string' ? answered : id);
    if (typeof answered === 'string') {
      const call = this.calls.get(answered);
      const answer = toToolMessage(id, {
        callId: answered,
        name: call?.name ?? 'ask',
        text: toPlainText(content),
        isError: false,
      });
      return name === undefined ? [answer] : [answer, toHuman(name, content)];
    }
    const isInput = runId !== null && readQueuedRun(message) === undefined;
    const parts = (isInput && (this.laterInputs.get(runId) ?? this.names.inputs(runId))) || [];
    if (parts.length < 2) return [toHuman(parts[0]?.[0] ?? name ?? id, content)];
    let from = 0;
    return parts.map(([own, length], place) => {
      const end = place === parts.length - 1 ? content.length : from + length; // a note at the end belongs to the last one
      const blocks = content.slice(from, end);
      from = end;
      return toHuman(own ?? `${id}.${place}`, blocks);
    });
  }

  private readAssistant({ id, content }: StoredMessage): GraphMessage[] {
    for (const block of content) if (block.type === 'tool_call') this.keepCall(block);
    const calls = content.flatMap((block) => (block.type === 'tool_call' && block.name !== 'complete' ? [block] : []));
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    if (text === '' && calls.length === 0) return [];
    const reasoning = content.map((block) => (block.type === 'reasoning' ? block.text : '')).join('');
    return [toAi(id, text, { calls, reasoning })];
  }

  private keepCall(call: ToolCallBlock): void {
    this.calls.set(call.tool_call_id, call);
    const words = readClosingWords(call);
    if (words !== undefined) this.closings.set(call.tool_call_id, words);
  }

  private readResult(id: string, { tool_call_id: callId, name, result }: ToolResultBlock): GraphMessage[] {
    const words = this.closings.get(callId);
    if (name === 'complete') return words === undefined || !result.success ? [] : [toAi(id, words)];
    if (isQuestion(name) && result.success) return [];
    const text = result.success ? result.output : (result.error ?? result.output);
    return [toToolMessage(id, { callId, name, text, isError: !result.success })];
  }
}

const noExtras = { additional_kwargs: {}, response_metadata: {} } as const;

const toHuman = (id: string, content: readonly ContentBlock[]): GraphMessage => ({
  type: 'human',
  id,
  content: content.every(({ type }) => type === 'text') ? toPlainText(content) : content.flatMap(toPart),
  ...noExtras,
});

const toPlainText = (content: readonly ContentBlock[]): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');

function toPart(block: ContentBlock): object[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  if (block.type !== 'image') return [];
  const { source } = block;
  return [{ type: 'image_url', image_url: { url: source.type === 'url' ? source.url : `/v1/blobs/${source.sha256}` } }];
}

interface AiExtras {
  readonly calls?: readonly ToolCallBlock[];
  readonly reasoning?: string;
}

/** A message of the model. Calls that are no JSON are invalid ones. */
export function toAi(id: string, content: string, { calls = [], reasoning = '' }: AiExtras = {}): GraphMessage {
  const invalid = calls.filter(({ raw_arguments: raw }) => raw !== undefined);
  return {
    type: 'ai',
    id,
    content,
    additional_kwargs: reasoning === '' ? {} : { reasoning_content: reasoning },
    response_metadata: {},
    tool_calls: calls.filter((call) => !invalid.includes(call)).map(toToolCall),
    invalid_tool_calls: invalid.map(({ tool_call_id, name, raw_arguments: args }) => ({
      ...{ id: tool_call_id, name, args, type: 'invalid_tool_call' },
      error: 'the arguments are no JSON object',
    })),
  };
}

const toToolCall = ({ tool_call_id: id, name, arguments: args }: ToolCallBlock): GraphToolCall => ({
  id,
  name,
  args,
  type: 'tool_call',
});

interface ShownResult {
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

const toToolMessage = (id: string, { callId, name, text, isError }: ShownResult): GraphMessage => ({
  type: 'tool',
  id,
  content: text,
  tool_call_id: callId,
  name,
  status: isError ? 'error' : 'success',
  artifact: null,
  ...noExtras,
});

/** A piece of a reply. */
export const toTextChunk = (id: string, kind: 'text' | 'reasoning', text: string): GraphMessage => ({
  ...toAi(id, kind === 'text' ? text : '', kind === 'text' ? {} : { reasoning: text }),
  type: 'AIMessageChunk',
  tool_call_chunks: [],
});

/** The calls of a reply, whole: their arguments are not stored as they were written, so a piece of them could not be resumed after. */
export const toCallsChunk = ({ id, tool_calls: calls }: GraphMessage): GraphMessage => ({
  ...toAi(id, ''),
  type: 'AIMessageChunk',
  tool_call_chunks: (calls as readonly GraphToolCall[]).map(({ id: callId, name, args }, index) => ({
    ...{ type: 'tool_call_chunk', index, id: callId, name },
    args: JSON.stringify(args),
  })),
});

/** What a run waits for, as its client is asked for it. Nothing for child runs, which the client has no part in. */
export function toInterrupts(waiting: Waiting, runId: string, state: Pick<MessageState, 'findCall'>): GraphInterrupt[] {
  const { reason, question, approvals = [], tool_calls: calls = [], budget } = waiting;
  switch (reason) {
    case 'ask': {
      const { text = '', attachments = [], tool_call_id: id = `${runId}-ask` } = question ?? {};
      return [{ id, value: { type: 'question', question: text, attachments } }];
    }
    case 'approval': {
      const [first] = approvals;
      return first ? [{ id: first.approval_id, value: toReview(approvals, state) }] : [];
    }
    case 'caller_tools':
      return calls.map(({ tool_call_id: id, name }) => ({
        id,
        value: { type: 'tool', tool_call: { id, name, args: state.findCall(id)?.arguments ?? {} } },
      }));
    case 'budget':
      return [{ id: `${runId}-budget`, value: { type: 'budget', budget: budget ?? null } }];
    case 'tool_unknown':
      return [{ id: `${runId}-tool_unknown`, value: { type: 'tool_unknown' } }];
    case 'elicitation':
      return (waiting.elicitations ?? []).map((asked) => ({
        id: `${asked.tool_call_id}-${asked.key}`,
        value: { type: 'elicitation', elicitation: asked },
      }));
    case 'child_runs':
      return [];
  }
}

/** The request that LangChain's human-in-the-loop middleware makes. */
const toReview = (approvals: NonNullable<Waiting['approvals']>, state: Pick<MessageState, 'findCall'>) => ({
  action_requests: approvals.map(({ tool_call_id: id, name }) => ({
    name,
    args: state.findCall(id)?.arguments ?? {},
    description: `The agent asks for approval to call ${name}.`,
  })),
  review_configs: approvals.map(({ name }) => ({
    action_name: name,
    allowed_decisions: ['approve', 'edit', 'reject'],
  })),
});
