import { isBudgetExceeded } from '../run/run-budget';
import { type NewFact, type NewMessage, type RunError, type Usage, addUsage } from '@rondo/contract';
import type { Model } from '../models/model';
import type { AgentRun } from '../loop/loop-context';
import type { IdsAndClock } from '../ports';
import { frameText } from '../loop/prompt';
import { type RunState, evolve } from '../run/run-state';
import { contextBudgetOf, summaryTokens } from '../context/context-budget';
import { compactionFailed } from './compaction-failed';
import { countRequestTokens } from '../context/compress';
import { ContextMeter } from '../context/context-meter';
import type { OpenCompaction } from '../context/context-state';
import { type BudgetOf, inputBudgetOf } from '../context/model-budgets';
import { rangeOf, within } from '../context/message-range';
import { Summarizer, type SummaryResult } from './summarizer';
import { summaryIn, summaryMessage } from './summary-message';
import { summaryStyleOf } from './summary-prompt';
import type { TokenCounter } from '../context/token-counter';

export interface SummarizePorts {
  readonly model: Model;
  readonly tokens: TokenCounter;
  readonly budgetOf: BudgetOf;
  readonly clerk: IdsAndClock;
}

/** A summary is asked for this many times in all. */
const maxAttempts = 2;
/** A model for summaries may be smaller than the run's: what is folded, and a previous summary, need the rest. */
const summaryShare = 1 / 4;

/**
 * Folds what the run's open compaction covers into one message. These facts end the compaction, with a summary or without
 * one, and tell what each attempt cost; they belong in one transaction. Rejects only with the reason of `signal`.
 */
export async function summarize(run: AgentRun, ports: SummarizePorts, signal: AbortSignal): Promise<NewFact[]> {
  const { compaction } = run.state;
  if (!compaction) return [];

  const meter = new ContextMeter(ports.tokens, run.settings.model);
  const scribe = await scribeFor(run, ports, { meter, signal });
  const material = materialOf(run.state, compaction);
  const replaced = sum(
    await meter.ofMessages(material.previous ? [material.previous, ...material.messages] : material.messages),
  );

  let error: RunError = nothingToFold;
  for (let attempt = 0; attempt < maxAttempts && material.messages.length > 0; attempt++) {
    const told = await tell(run, scribe, material);
    if ('error' in told) {
      error = told.error;
      continue;
    }
    const message = await messageOf(run, { ports, meter, compaction, material, summary: told.text });
    if (tokenCountOf(message) < replaced) {
      return [...scribe.bills, ...(await summaryFacts(run, { message, compaction, meter }))];
    }
    error = notSmaller;
  }
  return [...scribe.bills, ...compactionFailed(run.state, error)];
}

const nothingToFold: RunError = { code: 'nothing_to_fold', message: 'The messages to fold were not found.' };
const notSmaller: RunError = {
  code: 'summary_not_smaller',
  message: 'The summary was no smaller than what it replaces.',
};

async function scribeFor(
  run: AgentRun,
  ports: SummarizePorts,
  { meter, signal }: { meter: ContextMeter; signal: AbortSignal },
): Promise<Summarizer> {
  const { settings, state } = run;
  const frame = await meter.ofFrame(frameText(run));
  const { budgetOf } = ports;
  const modelName = settings.context.summary_model ?? settings.model;
  const budgetTokens = modelName === settings.model ? inputBudgetOf(settings, budgetOf) : budgetOf(modelName);
  const allowance = contextBudgetOf({ settings, budgetOf, frame, refusedTokens: undefined });
  return new Summarizer({
    ...ports,
    signal,
    modelName,
    style: summaryStyleOf(settings),
    iteration: state.iteration,
    targetTokens: Math.min(summaryTokens(allowance, settings), Math.floor(budgetTokens * summaryShare)),
    budgetTokens,
    isSpent: (bills) => isBudgetExceeded(settings.budget, bills.reduce(withBill, state.usage)),
  });
}

const withBill = (usage: Usage, fact: NewFact): Usage =>
  fact.type === 'usage.recorded' ? addUsage(usage, fact.data) : usage;

interface Material {
  readonly previous: NewMessage | undefined;
  /** What the previous summary does not say yet. */
  readonly messages: readonly NewMessage[];
}

function materialOf({ conversation, context }: RunState, { covers }: OpenCompaction): Material {
  const stretch = rangeOf(conversation, covers);
  const folded = rangeOf(conversation, context.summary?.covers);
  const messages = conversation.filter(
    ({ type }, at) => type !== 'summary' && within(stretch, at) && !within(folded, at),
  );
  return { messages, previous: folded && conversation.find(({ id }) => id === context.summary?.id) };
}

function tell({ settings }: AgentRun, scribe: Summarizer, { previous, messages }: Material): Promise<SummaryResult> {
  const style = summaryStyleOf(settings);
  return scribe.condense(previous && summaryIn(previous), messages.map(style.item));
}

interface Written {
  readonly ports: SummarizePorts;
  readonly meter: ContextMeter;
  readonly compaction: OpenCompaction;
  readonly material: Material;
  readonly summary: string;
}

async function messageOf(run: AgentRun, written: Written): Promise<NewMessage> {
  const { ports, meter, compaction, material, summary } = written;
  const about = {
    id: ports.clerk.messageId(),
    iteration: run.state.iteration,
    summary,
    covers: compaction.covers,
    parentId: material.previous?.id,
  };
  const tokenCount = sum(await meter.ofMessages([summaryMessage(run, { ...about, tokenCount: 0 })]));
  return summaryMessage(run, { ...about, tokenCount });
}

const tokenCountOf = ({ metadata }: NewMessage): number => Number(metadata['token_count']);

async function summaryFacts(
  run: AgentRun,
  { message, compaction, meter }: { message: NewMessage; compaction: OpenCompaction; meter: ContextMeter },
): Promise<NewFact[]> {
  const iteration = run.state.iteration;
  const told: NewFact = { type: 'message.created', iteration, data: { message } };
  const data = {
    method: 'summary' as const,
    compaction_id: compaction.id,
    message_id: message.id,
    covers: compaction.covers,
    tokens_before: compaction.tokensBefore,
  };
  const done = (tokens_after: number): NewFact => ({
    type: 'context.compacted',
    iteration,
    data: { ...data, tokens_after },
  });
  const state = [told, done(0)].reduce<RunState>(evolve, run.state);
  return [told, done(await countRequestTokens({ run, state }, meter))];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
