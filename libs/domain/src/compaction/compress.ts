import type { Coverage } from '@rondo/contract';
import type { ContextMeter } from '../context/context-meter';
import {
  type Conversation,
  type MessageRange,
  findCoverage,
  findNewestUserIndex,
  findRange,
} from '../context/message-range';
import { findSelection } from '../context/selection';
import { listTurns } from '../context/turns';
import type { RunPosition } from '../loop-context';
import { countRequestTokens, frameText } from '../prompt/prompt';
import { type Compaction, type Compression, compactContext } from '../run/context-state';

type CompressionData = Extract<Compaction, { method: 'compression' }>;

export interface CompressionGoal {
  readonly reason: CompressionData['reason'];
  readonly tokensBefore: number;
  /** Well below the limit, so that the next compression is not due soon. */
  readonly target: number;
  /** Accepted where the target cannot be reached. */
  readonly acceptable: number;
  /** Above this size, any compression is accepted. */
  readonly maximum: number;
}

/** Characters that a tool result may keep, from attempt to attempt. */
const resultLengths = [12_288, 6_144, 3_072, 1_536, 768];
/** The length at which middle turns are omitted, and the lengths after that. */
const lengthWhenOmitting = 768;
const minimalLengths = [192, 48];

/** A compression that saves less than a tenth is not worth losing a prefix that the provider has cached. */
const worthwhileShare = 0.9;

/**
 * The mildest compression that reaches the target, else one of acceptable size, else the smallest. It calls no model and
 * loses nothing: the log keeps every message whole. Undefined where it would save too little.
 */
export async function compress(
  { run, state }: RunPosition,
  meter: ContextMeter,
  { reason, tokensBefore, target, acceptable, maximum }: CompressionGoal,
): Promise<CompressionData | undefined> {
  const through = state.conversation.at(-1)?.id;
  if (!through) return undefined;

  const tried: CompressionData[] = [];
  for await (const compression of attempts({ run, state }, meter, { through, target })) {
    const data = toData(compression, { reason, tokensBefore });
    const context = compactContext(state.context, data, { compactedIn: 0, changedAt: through });
    const tokens = await countRequestTokens({ run, state: { ...state, context } }, meter);
    tried.push({ ...data, tokens_after: tokens });
    if (tokens <= target) break;
  }
  const best = takeWithin(tried, target) ?? takeWithin(tried, acceptable) ?? takeWithin(tried, smallest(tried));
  return best && (best.tokens_after <= tokensBefore * worthwhileShare || tokensBefore > maximum) ? best : undefined;
}

/** Halves a request that its provider refused as too long, even if our own count says that it fits. */
export async function halve(position: RunPosition, meter: ContextMeter): Promise<CompressionData | undefined> {
  const tokensBefore = await countRequestTokens(position, meter);
  const target = Math.floor(tokensBefore / 2);
  return compress(position, meter, {
    reason: 'overflow',
    tokensBefore,
    target,
    acceptable: target,
    maximum: Infinity,
  });
}

const takeWithin = (tried: readonly CompressionData[], tokens: number): CompressionData | undefined =>
  tried.find(({ tokens_after }) => tokens_after <= tokens);

const smallest = (tried: readonly CompressionData[]): number =>
  Math.min(...tried.map(({ tokens_after }) => tokens_after));

const toData = (
  { through, keepCharacters, omitted }: Compression,
  { reason, tokensBefore }: Pick<CompressionGoal, 'reason' | 'tokensBefore'>,
): CompressionData => ({
  method: 'compression',
  reason,
  through_message_id: through,
  keep_characters: keepCharacters,
  ...(omitted && { omitted }),
  tokens_before: tokensBefore,
  tokens_after: 0,
});

/** From the mildest to the strongest. A text that was shortened before does not become longer again. */
async function* attempts(
  position: RunPosition,
  meter: ContextMeter,
  { through, target }: { through: Compression['through']; target: number },
): AsyncGenerator<Compression> {
  const before = position.state.context.compression;
  const longest = before?.keepCharacters ?? Infinity;
  const notLonger = (lengths: readonly number[]) => lengths.filter((length) => length <= longest);

  for (const keepCharacters of notLonger(resultLengths)) yield { through, keepCharacters, omitted: before?.omitted };

  const shortest = { through, keepCharacters: Math.min(lengthWhenOmitting, longest), omitted: undefined };
  const omitted = await omittableTurns(position, meter, { compression: shortest, target });
  yield { ...shortest, omitted };
  for (const keepCharacters of notLonger(minimalLengths)) yield { through, keepCharacters, omitted };
}

/**
 * The last resort: the turns between the first one (or the summary) and the newest ones that fit the target once their
 * texts are shortened. The last turn is never omitted.
 */
async function omittableTurns(
  { run, state }: RunPosition,
  meter: ContextMeter,
  { compression, target }: { compression: Compression; target: number },
): Promise<Coverage | undefined> {
  const { conversation, context } = state;
  const tokens = await tokensByIndex({ run, state: { ...state, context: { ...context, compression } } }, meter);
  const turns = turnsAfterStart(conversation, findRange(conversation, context.summary?.covers));
  const start = turns[0]?.first ?? conversation.length;
  const newestUser = findNewestUserIndex(conversation);

  const keptTokens = [...tokens.slice(0, start), newestUser >= start ? (tokens[newestUser] ?? 0) : 0];
  let space = target - (await meter.ofFrame(frameText({ run, state }))) - sum(keptTokens);
  let count = turns.length;
  for (; count > 0; count--) {
    space -= tokensOfTurn(tokens, turns[count - 1]);
    if (space < 0) break;
  }
  const last = turns[Math.min(count, turns.length - 1) - 1];
  return last && findCoverage(conversation, { first: start, last: last.last });
}

async function tokensByIndex(position: RunPosition, meter: ContextMeter): Promise<number[]> {
  const { sent, messages } = findSelection(position.run, position.state);
  const counts = await meter.ofMessages(messages);
  const tokens = position.state.conversation.map(() => 0);
  sent.forEach(({ index }, nth) => (tokens[index] = (tokens[index] ?? 0) + (counts[nth] ?? 0)));
  return tokens;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const tokensOfTurn = (tokens: readonly number[], turn: MessageRange | undefined): number =>
  turn ? sum(tokens.slice(turn.first, turn.last + 1)) : 0;

/** The first turn states the task and stays, unless a summary covers it. */
function turnsAfterStart(conversation: Conversation, summarized: MessageRange | undefined): MessageRange[] {
  const turns = listTurns(conversation);
  return summarized ? turns.filter(({ first }) => first > summarized.last) : turns.slice(1);
}
