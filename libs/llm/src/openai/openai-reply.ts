import type { Opaque } from '@rondo/contract';
import type { ReplyChunk } from '@rondo/domain';
import { endingBy } from '../finish-reason';
import { refusal } from '../provider-error';
import { readCost } from '../token-usage';
import { type ReplyEnding, type ReplyReader, type ReportedUsage, parseEvent } from '../wire-protocol';
import { CallAssembly } from './call-assembly';
import {
  type Choice,
  type OpenAiUsage,
  type Said,
  type ToolCallDelta,
  openAiChunk,
  partsIn,
  textIn,
} from './openai-chunk';
import { type GivenReasoning, type ReasoningField, type Recipient, reasoningFields } from './openai-messages';

/** What is learned of how a model's server ends its replies. */
export class EndingHabit {
  /** It says a reason: a reply without one is cut off. */
  saysReason = false;
  /** A reply of it has ended with `[DONE]` alone. */
  hasEndedWithout = false;
}

/** Reads a Chat Completion: the chunks of a stream, or one whole reply. */
export class OpenAiReply implements ReplyReader {
  ending: ReplyEnding | undefined;
  complete = false;
  usage: ReportedUsage = {};
  private readonly calls = new CallAssembly();
  private hasOutput = false;
  /** The server said that the reply ends here, with an empty word or by counting its tokens. */
  private isClosed = false;

  /** Reasoning that has no end yet: where it came in, and what the provider wants back of it. */
  private thought: Thought | undefined;

  constructor(
    private readonly habit = new EndingHabit(),
    private readonly recipient?: Recipient,
  ) {}

  get isUnseen(): boolean {
    return this.calls.any && !this.calls.isWhole;
  }

  read(data: string, chunks: ReplyChunk[], name?: string): void {
    if (data.trim() === '[DONE]') {
      this.finish(chunks);
      return;
    }
    const { choices, usage, x_groq, error } = parseEvent(openAiChunk, data, name === 'error' ? name : undefined);
    const choice = choices?.[0];
    const counted = usage ?? choice?.usage ?? x_groq?.usage;
    if (counted) this.usage = { ...this.usage, ...toReportedUsage(counted, this.recipient?.profile) };
    if (usage && !choice && this.hasOutput) this.isClosed = true;
    const said = choice?.delta ?? choice?.message;
    if (said) this.readDelta(said, chunks);
    if (!this.calls.any) for (const other of choices?.slice(1) ?? []) this.readCalls(other, chunks);
    if (error) throw refusal({ detail: error });
    const word = choice?.finish_reason;
    if (word === '') this.isClosed = true;
    if (!word || word === 'null') {
      this.noteLateCalls();
      return;
    }
    this.habit.saysReason = true;
    this.endThought(chunks);
    this.calls.end(chunks);
    this.ending = endingBy(word, this.calls.any);
  }

  /** Copilot puts the calls of Claude into a choice of their own. */
  private readCalls({ delta, message }: Choice, chunks: ReplyChunk[]): void {
    const { tool_calls } = delta ?? message ?? {};
    if (tool_calls?.length) this.readDelta({ tool_calls }, chunks);
  }

  /** Calls may follow the word for the end of the text. */
  private noteLateCalls(): void {
    const { ending } = this;
    if (ending && 'finishReason' in ending && ending.finishReason === 'stop' && this.calls.any)
      this.ending = { ...ending, finishReason: 'tool_calls' };
  }

  readWhole(body: string, chunks: ReplyChunk[]): void {
    this.read(body, chunks);
    this.isClosed = true;
    this.finish(chunks);
  }

  private finish(chunks: ReplyChunk[]): void {
    this.complete = true;
    this.endThought(chunks);
    this.calls.end(chunks);
    if (!this.ending && this.hasOutput) this.ending = this.endWithoutReason();
  }

  /**
   * A reply that ends in order and without a reason is whole where the server has closed it in another way, or where it never
   * says a reason. From one that usually does, it may be cut off.
   */
  private endWithoutReason(): ReplyEnding | undefined {
    const isHabit = this.habit.hasEndedWithout && !this.habit.saysReason;
    this.habit.hasEndedWithout = true;
    if (!this.isClosed && !this.calls.isWhole && !isHabit) return undefined;
    return { finishReason: this.calls.any ? 'tool_calls' : 'stop' };
  }

  /** Reasoning has a field of its own with three names in use; a server that fills two sends the same text twice. */
  private readDelta(delta: Said, chunks: ReplyChunk[]): void {
    const before = chunks.length;
    const { field, reasoning } = findReasoning(delta);
    const details = delta.reasoning_details ?? [];
    const signature = delta.thinking_blocks?.map((block) => block.signature ?? '').join('') ?? '';
    const opaque = delta.reasoning_opaque ?? '';
    if (reasoning || details.length > 0 || signature || opaque) {
      this.thought ??= { field, details: [], signature: '', opaque: '' };
      if (opaque && !reasoning) this.thought.field = 'reasoning_text';
      this.thought.details.push(...details);
      this.thought.signature += signature;
      this.thought.opaque += opaque;
    }
    if (reasoning) chunks.push({ type: 'reasoning', text: reasoning });
    const parts = [delta.content, delta.refusal].flatMap(partsIn).filter(({ text }) => text !== '');
    if (parts.length > 0 || delta.tool_calls?.length || delta.function_call) this.endThought(chunks);
    chunks.push(...parts);
    for (const call of delta.tool_calls ?? []) this.calls.add(call, chunks, this.toOpaque(call));
    if (delta.function_call) this.calls.add({ function: delta.function_call }, chunks);
    this.hasOutput ||= chunks.length > before || this.calls.any;
  }

  /** What the provider wants back is kept with the reasoning before it. */
  private endThought(chunks: ReplyChunk[]): void {
    const { thought, recipient } = this;
    this.thought = undefined;
    if (!thought || !recipient || recipient.profile.reasoning === 'none') return;
    const { field, details, signature, opaque } = thought;
    const data: GivenReasoning =
      details.length > 0 && recipient.profile.reasoning === 'details'
        ? { details }
        : {
            field,
            ...(signature && { signature }),
            ...(opaque && { opaque }),
            ...(details.length > 0 && { details }),
          };
    chunks.push({ type: 'reasoning_end', opaque: { maker: recipient.maker, data } });
  }

  private toOpaque({ id, extra_content, provider_specific_fields, ...call }: ToolCallDelta): Opaque | undefined {
    const inFunction = call.function?.provider_specific_fields;
    const given: Record<string, unknown> = {
      ...(isObject(extra_content) && { extra_content }),
      ...(isObject(provider_specific_fields) && { provider_specific_fields }),
      ...(isObject(inFunction) && { function: { provider_specific_fields: inFunction } }),
      ...(call.function?.name && id?.includes(signatureInId) && { id }),
    };
    if (!this.recipient || Object.keys(given).length === 0) return undefined;
    return { maker: this.recipient.maker, data: given };
  }
}

interface Thought {
  field: ReasoningField;
  readonly details: Record<string, unknown>[];
  signature: string;
  opaque: string;
}

/** LiteLLM puts Gemini's signature behind it into the id of a call. */
const signatureInId = '__thought__';

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function findReasoning(delta: Said): { readonly field: ReasoningField; readonly reasoning: string } {
  const [found] = reasoningFields
    .map((field) => ({ field, reasoning: textIn(delta[field]) }))
    .filter(({ reasoning }) => reasoning !== '');
  return found ?? { field: 'reasoning', reasoning: '' };
}

/** Only what is reported: of several reports the last counts. */
function toReportedUsage(usage: OpenAiUsage, profile?: Recipient['profile']): ReportedUsage {
  const { prompt_tokens: input, prompt_tokens_details: details } = usage;
  const output = countReply(usage, profile);
  const cacheRead =
    details?.cached_tokens ??
    usage.prompt_cache_hit_tokens ??
    usage.cached_tokens ??
    usage.cache_read_input_tokens ??
    undefined;
  const cacheWrite = details?.cache_write_tokens ?? usage.cache_creation_input_tokens ?? undefined;
  const costUsd = readCost(usage);
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? undefined;
  return {
    ...(typeof input === 'number' && { input }),
    ...(output !== undefined && { output }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(costUsd !== undefined && { costUsd }),
    ...(reasoning !== undefined && { reasoning }),
  };
}

/** Some servers count what was thought beside the reply, and say how much, or only the total shows it. */
function countReply(usage: OpenAiUsage, profile?: Recipient['profile']): number | undefined {
  const { total_tokens: total, completion_tokens_details: details } = usage;
  const isOnlyInTotal = profile?.thoughtsOnlyInTotal === true && typeof total === 'number';
  const output = usage.completion_tokens ?? (isOnlyInTotal ? 0 : undefined);
  if (output === undefined) return undefined;
  const beside = (total ?? 0) - (usage.prompt_tokens ?? 0) - output;
  const isReasoned = isOnlyInTotal || beside === details?.reasoning_tokens;
  return isReasoned && beside > 0 ? output + beside : output;
}
