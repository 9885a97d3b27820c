import { type RunPosition, frameText, messagesToSend } from '../loop/prompt';
import type { ContextMeter } from './context-meter';
import { type Compaction, type Compression, compacted } from './context-state';
import { leaveOut } from './leave-out';

type CompressionFact = Extract<Compaction, { method: 'compression' }>;

export interface Compressible {
  readonly reason: CompressionFact['reason'];
  readonly tokensBefore: number;
  /** As small as it is to become; well below the limit, so that it need not be done again soon. */
  readonly target: number;
  /** As large as it may stay where the target cannot be reached. */
  readonly most: number;
  /** Above this, any help is welcome. */
  readonly budget: number;
}

/** How long a tool's result may stay, round by round; then the middle is left out; then texts are cut to the bone. */
const rounds = [12_288, 6_144, 3_072, 1_536, 768];
const lastRound = 768;
const toTheBone = [192, 48];

/** A change that brings less than this is not worth a prefix that a provider has cached. */
const worthIt = 0.9;

/**
 * The gentlest compression that reaches the target, or else one that is small enough, or else the smallest (SM9, SM10). No
 * model has a part in it, and nothing is lost: the log keeps every word. Undefined where it would bring too little.
 */
export async function compress(
  { run, state }: RunPosition,
  meter: ContextMeter,
  { reason, tokensBefore, target, most, budget }: Compressible,
): Promise<CompressionFact | undefined> {
  const through = state.conversation.at(-1)?.id;
  if (!through) return undefined;

  const tried: CompressionFact[] = [];
  for await (const compression of attempts({ run, state }, meter, { through, target })) {
    const fact = factOf(compression, { reason, tokensBefore });
    const context = compacted(state.context, fact, { compactedIn: 0, changedAt: through });
    const tokens = await countRequestTokens({ run, state: { ...state, context } }, meter);
    tried.push({ ...fact, tokens_after: tokens });
    if (tokens <= target) break;
  }
  const best = firstWithin(tried, target) ?? firstWithin(tried, most) ?? firstWithin(tried, smallest(tried));
  return best && (best.tokens_after <= tokensBefore * worthIt || tokensBefore > budget) ? best : undefined;
}

/** For a request that its provider refused as too long, whatever we think of it. */
export async function halve(standing: RunPosition, meter: ContextMeter): Promise<CompressionFact | undefined> {
  const tokensBefore = await countRequestTokens(standing, meter);
  const target = Math.floor(tokensBefore / 2);
  return compress(standing, meter, { reason: 'overflow', tokensBefore, target, most: target, budget: Infinity });
}

const firstWithin = (tried: readonly CompressionFact[], tokens: number): CompressionFact | undefined =>
  tried.find(({ tokens_after }) => tokens_after <= tokens);

const smallest = (tried: readonly CompressionFact[]): number =>
  Math.min(...tried.map(({ tokens_after }) => tokens_after));

/** The next request as it stands, in tokens. */
export const countRequestTokens = (standing: RunPosition, meter: ContextMeter): Promise<number> =>
  meter.countTokens({ frame: frameText(standing.run), messages: messagesToSend(standing) });

const factOf = (
  { through, keepCharacters, omitted }: Compression,
  { reason, tokensBefore }: Pick<Compressible, 'reason' | 'tokensBefore'>,
): CompressionFact => ({
  method: 'compression',
  reason,
  through_message_id: through,
  keep_characters: keepCharacters,
  ...(omitted && { omitted }),
  tokens_before: tokensBefore,
  tokens_after: 0,
});

/** From gentle to harsh. What was cut before is not made longer again. */
async function* attempts(
  standing: RunPosition,
  meter: ContextMeter,
  { through, target }: { through: Compression['through']; target: number },
): AsyncGenerator<Compression> {
  const before = standing.state.context.compression;
  const atMost = before?.keepCharacters ?? Infinity;
  const notLonger = (lengths: readonly number[]) => lengths.filter((length) => length <= atMost);

  for (const keepCharacters of notLonger(rounds)) yield { through, keepCharacters, omitted: before?.omitted };

  const shortest = { through, keepCharacters: Math.min(lastRound, atMost), omitted: undefined };
  const omitted = await leaveOut(standing, meter, { compression: shortest, target });
  yield { ...shortest, omitted };
  for (const keepCharacters of notLonger(toTheBone)) yield { through, keepCharacters, omitted };
}
