import type { ReplyChunk } from '@rondo/domain';
import { ProviderError, refusal } from '../provider-error';
import { type ReplyEnding, type ReplyReader, type ReportedUsage, parseEvent } from '../wire-protocol';
import { CallAssembly } from './call-assembly';
import { type OpenAiChunk, type OpenAiUsage, openAiChunk } from './openai-chunk';

type Delta = NonNullable<NonNullable<NonNullable<OpenAiChunk['choices']>[number]>['delta']>;

/** Reads a Chat Completion: the chunks of a stream, or one whole reply. */
export class OpenAiReply implements ReplyReader {
  ending: ReplyEnding | undefined;
  complete = false;
  usage: ReportedUsage = {};
  private readonly calls = new CallAssembly();

  read(event: string, chunks: ReplyChunk[]): void {
    if (event === '[DONE]') {
      this.complete = true;
      return;
    }
    const { choices, usage, error } = parseEvent(openAiChunk, event);
    if (error) throw refusal({ detail: error });
    if (usage) this.usage = reported(usage);
    const choice = choices?.[0];
    if (!choice) return;
    const said = choice.delta ?? choice.message;
    if (said) this.readDelta(said, chunks);
    if (choice.finish_reason) this.ending = this.endingBy(choice.finish_reason);
  }

  readWhole(body: string, chunks: ReplyChunk[]): void {
    this.read(body, chunks);
    this.complete = true;
  }

  /** Reasoning has a field of its own with two names in use; a server that fills both sends the same text twice. */
  private readDelta(delta: Delta, chunks: ReplyChunk[]): void {
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (reasoning) chunks.push({ type: 'reasoning', text: reasoning });
    const text = delta.content ?? delta.refusal;
    if (text) chunks.push({ type: 'text', text });
    for (const call of delta.tool_calls ?? []) this.calls.add(call, chunks);
    if (delta.function_call) this.calls.add({ function: delta.function_call }, chunks);
  }

  private endingBy(reason: string): ReplyEnding {
    switch (reason) {
      case 'length':
      case 'model_length':
      case 'max_tokens':
        return { finishReason: 'length' };
      case 'content_filter':
        return { error: new ProviderError('content_policy_violation', 'The provider filtered the reply.') };
      case 'error':
        return { error: new ProviderError('api_error', 'The provider aborted the reply.') };
      case 'insufficient_system_resource':
        return { error: new ProviderError('service_unavailable', 'The provider has no capacity for the reply.') };
      default: // `stop`, `tool_calls`, `function_call`, and other names of the same
        return { finishReason: this.calls.any ? 'tool_calls' : 'stop' };
    }
  }
}

const reported = ({ prompt_tokens, completion_tokens, prompt_tokens_details }: OpenAiUsage): ReportedUsage => ({
  input: prompt_tokens ?? undefined,
  output: completion_tokens ?? undefined,
  cacheRead: prompt_tokens_details?.cached_tokens ?? 0,
  cacheWrite: prompt_tokens_details?.cache_write_tokens ?? 0,
});
