import { usageFactFor } from '../loop/model-usage';
import type { Model, ModelEnd } from '../models/model';
import type { IdsAndClock } from '../ports';
import type { NewFact, RunError } from '@rondo/contract';
import { quoteMarks } from '../context/quote-marks';
import type { SummaryStyle } from './summary-prompt';
import type { TokenCounter } from '../context/token-counter';

export type SummaryResult = { readonly text: string } | { readonly error: RunError };

export interface SummarizerParts {
  readonly model: Model;
  readonly tokens: TokenCounter;
  readonly clerk: IdsAndClock;
  readonly signal: AbortSignal;
  readonly modelName: string;
  readonly style: SummaryStyle;
  readonly iteration: number;
  /** The longest summary, and the longest request for one. */
  readonly targetTokens: number;
  readonly budgetTokens: number;
  /** With these bills, the run may spend no more. */
  readonly isSpent: (bills: readonly NewFact[]) => boolean;
}

/** Writes summaries, and keeps the bills. */
export class Summarizer {
  readonly bills: NewFact[] = [];

  constructor(private readonly parts: SummarizerParts) {}

  /**
   * One summary of a previous one and of what came after it. What one request cannot hold is summarized in parts first,
   * and then the parts are (W32).
   */
  async condense(previous: string | undefined, items: readonly string[], level = 0): Promise<SummaryResult> {
    const chunks = await this.chunks(previous, items);
    if (chunks.length <= 1) return this.ask(previous, chunks[0] ?? []);
    if (level === mostLevels) return { error: tooLong };

    const parts: string[] = [];
    for (const chunk of chunks) {
      const told = await this.ask(undefined, chunk);
      if ('error' in told) return told;
      parts.push(`Part ${parts.length + 1} of ${chunks.length}, already summarized:\n${quoteMarks(told.text)}`);
    }
    return this.condense(previous, parts, level + 1);
  }

  private async ask(previous: string | undefined, items: readonly string[]): Promise<SummaryResult> {
    const { model, clerk, signal, modelName, iteration, style } = this.parts;
    if (this.parts.isSpent(this.bills)) return { error: spent };
    const beganAt = clerk.now();
    let firstOutputAt: string | undefined;
    let text = '';

    for await (const chunks of model.stream(this.requestFor(style.request(previous, items)), signal)) {
      for (const chunk of chunks) {
        if (chunk.type === 'text') text += chunk.text;
        if (chunk.type === 'text' || chunk.type === 'reasoning') firstOutputAt ??= clerk.now();
        if (chunk.type !== 'end') continue;
        signal.throwIfAborted();
        const call = { model: modelName, iteration, beganAt };
        this.bills.push(usageFactFor({ call, finishReason: 'summary', firstOutputAt }, chunk, clerk));
        return told(chunk, text.trim());
      }
    }
    throw new Error('a model ended its stream without saying how');
  }

  private requestFor(text: string) {
    const { modelName, targetTokens, style } = this.parts;
    const words = Math.floor(targetTokens * wordsPerToken);
    return {
      model: modelName,
      system: `${style.instructions}\nUse ${words} words at most.`,
      messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }],
      tools: [],
      settings: { temperature: 0, max_tokens: targetTokens },
    };
  }

  /** The items in as few requests as hold them; an item that no request holds is cut up. */
  private async chunks(previous: string | undefined, items: readonly string[]): Promise<string[][]> {
    const { tokens, modelName, style, targetTokens, budgetTokens } = this.parts;
    const [frame = 0, ...counts] = await tokens.countTexts(
      [`${style.instructions}${style.request(previous, [])}`, ...items],
      modelName,
    );
    const space = Math.max(Math.floor((budgetTokens - frame) * caution) - targetTokens, targetTokens * 2);
    const pieces = items.flatMap((text, index) => inPieces({ text, tokens: counts[index] ?? 0 }, space));
    return packed(pieces, space);
  }
}

const mostLevels = 5;
const wordsPerToken = 0.6;
/** Counts are near, not exact. */
const caution = 0.9;

const spent: RunError = { code: 'budget_exceeded', message: 'The budget of the run is spent.' };
const tooLong: RunError = { code: 'summary_too_long', message: 'The summaries of the parts did not become shorter.' };
const empty: RunError = { code: 'summary_empty', message: 'The model said nothing.' };
const cutOff: RunError = { code: 'summary_cut_off', message: 'The summary did not fit into its limit of tokens.' };

function told(end: ModelEnd, text: string): SummaryResult {
  if (end.how === 'aborted') return { error: { code: 'aborted', message: 'The summary was broken off.' } };
  if (end.how !== 'finished') return { error: end.error };
  if (end.finishReason === 'length') return { error: cutOff };
  return text === '' ? { error: empty } : { text };
}

interface Piece {
  readonly text: string;
  readonly tokens: number;
}

function inPieces({ text, tokens }: Piece, space: number): Piece[] {
  const count = Math.ceil(tokens / space);
  if (count <= 1) return [{ text, tokens }];
  const length = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, index) => ({
    text: index === 0 ? text.slice(0, length) : quoteMarks(text.slice(index * length, (index + 1) * length)),
    tokens: Math.ceil(tokens / count),
  }));
}

function packed(pieces: readonly Piece[], space: number): string[][] {
  const chunks: string[][] = [];
  let left = 0;
  for (const { text, tokens } of pieces) {
    const chunk = chunks.at(-1);
    if (chunk && tokens <= left) chunk.push(text);
    else chunks.push([text]);
    left = (chunk && tokens <= left ? left : space) - tokens;
  }
  return chunks;
}
