import { describeApproval, toText } from './openai.items';
import { type Frame, type ResponseTranslator } from './openai.translate';

export type Chunk = Readonly<Record<string, unknown>>;

interface FunctionCall {
  readonly type: string;
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
}

const isFunctionCall = (item: FunctionCall): boolean => item.type === 'function_call';

const toToolCall = ({ call_id: id, name, arguments: written }: FunctionCall) => ({
  id,
  type: 'function',
  function: { name, arguments: written },
});

/** Turns the events of a response into chunks of a chat. Calls of tools that Rondo runs are not shown. */
export class ChatTranslator {
  private calls = 0;
  private hasText = false;
  private itemId: unknown;

  constructor(
    private readonly head: Chunk,
    private readonly includesUsage: boolean,
  ) {}

  begin(): Chunk[] {
    return [this.chunk({ role: 'assistant', content: '', refusal: null })];
  }

  translate(frame: Frame): Chunk[] {
    switch (frame.type) {
      case 'response.output_text.delta':
        return [this.say(frame)];
      case 'response.output_item.done': {
        const item = frame['item'] as FunctionCall; // as the translation of responses has it
        if (!isFunctionCall(item)) return describeApproval(item).map((delta) => this.say({ item_id: item, delta }));
        this.calls += 1;
        return [this.chunk({ tool_calls: [{ index: this.calls - 1, ...toToolCall(item) }] })];
      }
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.end(frame['response'] as ResponseTranslator['response']); // as above
      default:
        return [];
    }
  }

  /** Messages of one answer are paragraphs of it. */
  private say({ item_id: itemId, delta }: Chunk): Chunk {
    const content = this.hasText && itemId !== this.itemId ? `\n\n${String(delta)}` : delta;
    this.hasText = true;
    this.itemId = itemId;
    return this.chunk({ content });
  }

  private end(response: ResponseTranslator['response']): Chunk[] {
    const error = findChatError(response);
    if (error) return [{ error }];
    const last = this.chunk({}, toFinishReason(response));
    return this.includesUsage ? [last, { ...this.head, choices: [], usage: toChatUsage(response) }] : [last];
  }

  private chunk(delta: object, finish_reason: string | null = null): Chunk {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return { ...this.head, choices, ...(this.includesUsage && { usage: null }) };
  }
}

/** A chat has no word for an answer that failed, or that was stopped. */
export function findChatError({ status, error }: ResponseTranslator['response']): object | undefined {
  if (status === 'failed') return { type: 'server_error', param: null, ...(error as object) };
  if (status !== 'cancelled') return undefined;
  return { type: 'server_error', param: null, code: 'run_stopped', message: 'The run was stopped.' };
}

function toFinishReason({ status, output }: ResponseTranslator['response']): string {
  if (status === 'incomplete') return 'length';
  return output.some(isFunctionCall) ? 'tool_calls' : 'stop';
}

interface ResponseUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
  readonly output_tokens_details: { readonly reasoning_tokens: number };
}

function toChatUsage({ usage }: ResponseTranslator['response']): object {
  const { input_tokens, output_tokens, total_tokens, ...details } = usage as ResponseUsage;
  return {
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens,
    prompt_tokens_details: { ...details.input_tokens_details, audio_tokens: 0 },
    completion_tokens_details: { ...details.output_tokens_details, audio_tokens: 0 },
  };
}

/** The whole answer of a chat that is not streamed. */
export function toChatCompletion(head: Chunk, response: ResponseTranslator['response']): Chunk {
  const calls = response.output.filter(isFunctionCall).map(toToolCall);
  const text = toText(response);
  const content = text === '' && calls.length > 0 ? null : text;
  const message = {
    role: 'assistant',
    content,
    refusal: null,
    annotations: [],
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: toFinishReason(response) }];
  return { ...head, choices, usage: toChatUsage(response) };
}
