import { type ModelPrice, type Usage, roundUsd } from '@rondo/contract';
import { type ModelMessage, type ModelRequest, hourFactor, memoizeGrowingList, tokensPerPage } from '@rondo/domain';
import type { ReportedUsage } from './wire-protocol';
import { z } from 'zod';

export type CallUsage = Usage & {
  readonly estimated: boolean;
  /** The cost at our price, in USD, where the provider named its own. */
  readonly listCostUsd?: number;
  /** Parts of the input and of the output, where the provider named them. */
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
};

const charactersPerToken = 4;
const tokensPerImage = 1500;

/**
 * The usage of a call as the provider reported it; estimated where it is missing, or 0 although there were tokens. What the
 * provider says that the call costs is what it costs; otherwise its tokens at our price, null where that is not known.
 */
export function toUsage(call: {
  request: ModelRequest;
  outputLength: number;
  reported: ReportedUsage;
  price: ModelPrice | undefined;
}): CallUsage {
  const { reported } = call;
  const input = reported.input === 0 ? undefined : wholeTokens(reported.input);
  const output = reported.output === 0 && call.outputLength > 0 ? undefined : wholeTokens(reported.output);
  const prompt = input ?? estimateInput(call.request);
  const cacheRead = Math.min(wholeTokens(reported.cacheRead) ?? 0, prompt);
  const cacheWrite = Math.min(wholeTokens(reported.cacheWrite) ?? 0, prompt - cacheRead);
  const tokens = {
    input: prompt,
    output: output ?? Math.ceil(call.outputLength / charactersPerToken),
    cacheRead,
    cacheWrite,
    cacheWriteHour: Math.min(wholeTokens(reported.cacheWriteHour) ?? 0, cacheWrite),
  };
  const ours = call.price ? computeCost(tokens, call.price) : null;
  const reasoned = wholeTokens(reported.reasoning);
  return {
    input_tokens: tokens.input,
    cached_tokens: cacheRead,
    output_tokens: tokens.output,
    cost_usd: reported.costUsd ?? ours,
    estimated: input === undefined || output === undefined,
    ...(reported.costUsd !== undefined && ours !== null && { listCostUsd: ours }),
    ...(reported.cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(reasoned !== undefined && { reasoningTokens: Math.min(reasoned, tokens.output) }),
  };
}

/** A fraction of a token is charged as one. */
const wholeTokens = (tokens: number | undefined): number | undefined =>
  tokens === undefined || tokens < 0 ? undefined : Math.ceil(tokens);

type Tokens = Record<Exclude<keyof ReportedUsage, 'costUsd' | 'reasoning'>, number>;

function computeCost(tokens: Tokens, price: ModelPrice): number {
  const { input, output, cache_read = input, cache_write = input, long_prompt } = price;
  const long = long_prompt && tokens.input > long_prompt.above_tokens ? long_prompt : undefined;
  const fresh = Math.max(0, tokens.input - tokens.cacheRead - tokens.cacheWrite);
  const written = tokens.cacheWrite + tokens.cacheWriteHour * (hourFactor - 1);
  const prompt = fresh * input + tokens.cacheRead * cache_read + written * cache_write;
  const reply = tokens.output * output;
  return roundUsd((prompt * (long?.input_factor ?? 1) + reply * (long?.output_factor ?? 1)) / 1_000_000);
}

/** The tokens of a request, by the length of its text. */
function estimateInput({ system, messages, tools }: ModelRequest): number {
  const text = system.length + JSON.stringify(tools).length;
  return Math.ceil(text / charactersPerToken) + estimateMessages(messages);
}

const estimateMessages = memoizeGrowingList<ModelMessage, number>((before = 0, more) =>
  more.reduce((sum, message) => sum + estimateMessage(message), before),
);

function estimateMessage(message: ModelMessage): number {
  if (message.role === 'tool') {
    const images = message.results.filter(({ image }) => image).length;
    return inText(message.results.map(({ text }) => text)) + images * tokensPerImage;
  }
  const images = message.content.filter(({ type }) => type === 'image').length;
  const pages = message.content.reduce((sum, block) => sum + (block.type === 'document' ? block.pages : 0), 0);
  const texts = message.content.map((block) => {
    if ('text' in block) return block.text;
    return block.type === 'tool_call' ? block.name + JSON.stringify(block.arguments) : '';
  });
  return inText(texts) + images * tokensPerImage + pages * tokensPerPage;
}

const inText = (texts: readonly string[]): number =>
  Math.ceil(texts.reduce((sum, text) => sum + text.length, 0) / charactersPerToken);

const usd = z.number().nonnegative().nullish().catch(undefined);

/** The fields of `usage` in which a provider says what a call costs, in USD. */
export const costFields = {
  cost: usd,
  /** OpenRouter: the request went to the model's maker with the customer's own key there. */
  is_byok: z.boolean().nullish().catch(undefined),
  cost_details: z.object({ upstream_inference_cost: usd }).nullish().catch(undefined),
};

type ReportedCost = z.infer<z.ZodObject<typeof costFields>>;

/** With a key of one's own, `cost` is OpenRouter's fee alone, often 0: what the model's maker charges is added to it. */
export function readCost({ cost, is_byok, cost_details }: ReportedCost): number | undefined {
  if (typeof cost !== 'number' || !is_byok) return cost ?? undefined;
  const upstream = cost_details?.upstream_inference_cost;
  return typeof upstream === 'number' ? roundUsd(cost + upstream) : undefined;
}
