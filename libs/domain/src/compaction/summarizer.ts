import type { NewFact, RunError } from '@rondo/contract';
import { wasTooLong } from '../models/model-budgets';
import { type ModelEnd, type ModelRequest, contextOverflow } from '../models/model';
import type { Model, Clock, IdGenerator, TokenCounter } from '../ports';
import { usageFactFor } from '../run/usage-fact';
import { wellFormedText } from '../well-formed';
import { judgeSummary } from './judge-summary';
import { type SummaryStyle, quoteMarks } from './summary-prompt';

export type SummaryResult = { readonly text: string } | { readonly error: RunError };

export interface SummarizerParts {
  readonly model: Model;
  readonly tokens: TokenCounter;
  readonly ids: IdGenerator;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly modelName: string;
  readonly style: SummaryStyle;
  readonly iteration: number;
  /** Limits of a summary, and of a request for one. */
  readonly targetTokens: number;
  readonly budgetTokens: number;
  /** Whether these usage facts exhaust the run's budget. */
  readonly isBudgetExceeded: (usageFacts: readonly NewFact[]) => boolean;
}

/** Has a model write summaries, and records the usage of each call. */
export class Summarizer {
  readonly usageFacts: NewFact[] = [];
  /** How often the model has refused a request that by our count was short enough. */
  private refusals = 0;

  constructor(private readonly parts: SummarizerParts) {}

  /**
   * One summary of a previous summary and of the items after it. Items that exceed one request are summarized in parts,
   * and then the summaries of the parts are. If the model refuses a request as too long, all of it is tried once more with
   * requests of half the size.
   */
  async summarize(previous: string | undefined, items: readonly string[]): Promise<SummaryResult> {
    const result = await this.inParts(previous, items);
    if (!('error' in result) || result.error.code !== contextOverflow) return result;
    this.refusals += 1;
    return this.inParts(previous, items);
  }

  private async inParts(previous: string | undefined, items: readonly string[], level = 0): Promise<SummaryResult> {
    const chunks = await this.chunks(previous, items);
    if (chunks.length <= 1) return this.ask(previous, chunks[0] ?? []);
    if (level === maxLevels) return { error: tooLong };

    const parts: string[] = [];
    for (const chunk of chunks) {
      const result = await this.ask(undefined, chunk);
      if ('error' in result) return result;
      parts.push(`Part ${parts.length + 1} of ${chunks.length}, already summarized:\n${quoteMarks(result.text)}`);
    }
    return this.inParts(previous, parts, level + 1);
  }

  private async ask(previous: string | undefined, items: readonly string[]): Promise<SummaryResult> {
    const { model, ids, clock, signal, modelName, iteration, style } = this.parts;
    if (this.parts.isBudgetExceeded(this.usageFacts)) return { error: budgetExceeded };
    const beganAt = clock.now();
    let firstOutputAt: string | undefined;
    let text = '';

    const request = this.requestFor(style.request(previous, items));
    for await (const chunks of model.stream(request, signal)) {
      for (const chunk of chunks) {
        if (chunk.type === 'text') text += chunk.text;
        if (chunk.type === 'text' || chunk.type === 'reasoning') firstOutputAt ??= clock.now();
        if (chunk.type !== 'end') continue;
        signal.throwIfAborted();
        const call = { model: modelName, iteration, beganAt };
        this.usageFacts.push(usageFactFor({ call, finishReason: 'summary', firstOutputAt }, chunk, { ids, clock }));
        return this.readEnd(chunk, { request, text: text.trim() });
      }
    }
    throw new Error('a model ended its stream without an end chunk');
  }

  private async readEnd(end: ModelEnd, { request, text }: { request: ModelRequest; text: string }) {
    const { tokens, modelName, budgetTokens, targetTokens } = this.parts;
    const countTokens = async () => {
      const texts = [request.system, ...request.messages.map((message) => JSON.stringify(message))];
      const counts = await tokens.countTexts(texts, modelName);
      return counts.reduce((sum, count) => sum + count, targetTokens); // a summary for which no space is left is refused, too
    };
    const result = readResult(end, text);
    const isTooLong = 'error' in result && (await wasTooLong(end, { budgetTokens, countTokens }));
    return isTooLong ? { error: { ...result.error, code: contextOverflow } } : result;
  }

  private requestFor(text: string) {
    const { modelName, targetTokens, style } = this.parts;
    const words = Math.floor(targetTokens * wordsPerToken);
    return {
      model: modelName,
      system: `${style.instructions}\nUse ${words} words at most.`,
      messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: wellFormedText(text) }] }],
      tools: [],
      settings: { temperature: 0, max_tokens: targetTokens },
    };
  }

  /** The tokens that the items of one request may have. */
  private spaceFor(frame: number, counts: readonly number[]): number {
    const { targetTokens, budgetTokens } = this.parts;
    const all = counts.reduce((sum, count) => sum + count, 0);
    if (this.refusals > 0) {
      const refused = Math.min(budgetTokens - frame, all) / 2 ** this.refusals;
      return Math.max(Math.floor(refused * countMargin), leastSpace);
    }
    return Math.max(Math.floor((budgetTokens - frame) * countMargin) - targetTokens, targetTokens * 2);
  }

  /** Distributes the items over as few requests as possible; an item that exceeds a request is split. */
  private async chunks(previous: string | undefined, items: readonly string[]): Promise<string[][]> {
    const { tokens, modelName, style } = this.parts;
    const [frame = 0, ...counts] = await tokens.countTexts(
      [`${style.instructions}${style.request(previous, [])}`, ...items],
      modelName,
    );
    const space = this.spaceFor(frame, counts);
    const pieces = items.flatMap((text, index) => splitItem({ text, tokens: counts[index] ?? 0 }, space));
    return pack(pieces, space);
  }
}

const maxLevels = 5;
const leastSpace = 200;
const wordsPerToken = 0.6;
/** Counts are estimates. */
const countMargin = 0.9;

const budgetExceeded: RunError = { code: 'budget_exceeded', message: 'The budget of the run is spent.' };
const tooLong: RunError = { code: 'summary_too_long', message: 'The summaries of the parts did not become shorter.' };
const cutOff: RunError = { code: 'summary_cut_off', message: 'The summary did not fit into its limit of tokens.' };

function readResult(end: ModelEnd, text: string): SummaryResult {
  if (end.how === 'aborted') return { error: { code: 'aborted', message: 'The summary was broken off.' } };
  if (end.how !== 'finished') return { error: end.error };
  if (end.finishReason === 'length') return { error: cutOff };
  return judgeSummary(text);
}

interface Piece {
  readonly text: string;
  readonly tokens: number;
}

function splitItem({ text, tokens }: Piece, space: number): Piece[] {
  const count = Math.ceil(tokens / space);
  if (count <= 1) return [{ text, tokens }];
  const length = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, index) => ({
    text: index === 0 ? text.slice(0, length) : quoteMarks(text.slice(index * length, (index + 1) * length)),
    tokens: Math.ceil(tokens / count),
  }));
}

function pack(pieces: readonly Piece[], space: number): string[][] {
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
