import { type ModelPrice, modelPrice } from '@rondo/contract';
import { z } from 'zod';

/** A date, which begins at 0:00 UTC, or a moment. */
const from = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** A price and the time from which it is valid. */
export const priceChange = modelPrice.extend({ from });
export type PriceChange = z.infer<typeof priceChange>;

export interface DatedPrices {
  readonly price?: ModelPrice | undefined;
  readonly price_changes?: readonly PriceChange[] | undefined;
}

/** The price at a time (milliseconds since 1970); undefined if it is not known. */
export function priceAt({ price, price_changes = [] }: DatedPrices, atMs: number): ModelPrice | undefined {
  let latestMs = -Infinity;
  let valid = price;
  for (const { from: begin, ...changed } of price_changes) {
    const beginMs = Date.parse(begin);
    if (beginMs > atMs || beginMs < latestMs) continue;
    latestMs = beginMs;
    valid = changed;
  }
  return valid;
}

/** What an account is charged at a price factor. Rounded to what a price can be written with, without the traces of binary fractions. */
export function chargePrice(price: ModelPrice, factor: number): ModelPrice {
  const times = (usd: number): number => Number((usd * factor).toFixed(priceDecimals));
  const { input, output, cache_read, cache_write, long_prompt } = price;
  return {
    input: times(input),
    output: times(output),
    ...(cache_read !== undefined && { cache_read: times(cache_read) }),
    ...(cache_write !== undefined && { cache_write: times(cache_write) }),
    ...(long_prompt && { long_prompt }),
  };
}

const priceDecimals = 12;
const million = 1_000_000;

/** USD per input token at the lowest rate: the cache price if it is lower. */
export const leastInputRate = ({ input, cache_read = input }: ModelPrice): number =>
  Math.min(input, cache_read) / million;

/** How large a model call can become, as far as is known before it. */
export interface CallSize {
  readonly model: string;
  readonly inputTokens: number;
  /** Undefined: as the model and its provider allow. */
  readonly maxOutputTokens: number | undefined;
  /** Whether the provider keeps the prompt for an hour, which costs more. Default: false. */
  readonly waitsLong?: boolean;
  /** The cost of a call before it that is recorded later. */
  readonly unsettledUsd: number;
}

/** What is kept for an hour costs Anthropic's customers twice the input, and 1.25 times where it is kept for five minutes. */
export const hourFactor = 2 / 1.25;

interface MostTokens {
  readonly input: number;
  readonly output: number;
  readonly waitsLong: boolean;
}

/** The most that a call can cost, in USD. */
export function mostCost({ input, output, ...price }: ModelPrice, tokens: MostTokens): number {
  const { cache_read = input, cache_write: write, long_prompt } = price;
  const cache_write = write === undefined ? input : write * (tokens.waitsLong ? hourFactor : 1);
  const long = long_prompt && tokens.input > long_prompt.above_tokens ? long_prompt : undefined;
  const prompt = tokens.input * Math.max(input, cache_read, cache_write) * (long?.input_factor ?? 1);
  return (prompt + tokens.output * output * (long?.output_factor ?? 1)) / million;
}
