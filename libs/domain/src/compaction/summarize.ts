import {
  type Coverage,
  type MessageId,
  type NewFact,
  type NewMessage,
  type RunError,
  type RunSettings,
  type Usage,
  addUsage,
} from '@rondo/contract';
import { isBudgetExceeded } from '../budget/run-limits';
import { toContextBudget, summaryTokens } from '../context/context-budget';
import type { ContextMeter } from '../context/context-meter';
import { findRange, within } from '../context/message-range';
import { type ResolveBudget, toInputBudget } from '../models/model-budgets';
import type { AgentRun } from '../loop-context';
import type { Clock, IdGenerator, Model, TokenCounter } from '../ports';
import { countRequestTokens, createMeter, frameText } from '../prompt/prompt';
import { countRepeated } from '../prompt/repetition';
import type { OpenCompaction } from '../run/context-state';
import { type RunState, evolve } from '../run/run-state';
import { type SummaryResult, Summarizer } from './summarizer';
import { quoteMarks, toSummaryStyle } from './summary-prompt';

export interface SummarizePorts {
  readonly model: Model;
  readonly tokens: TokenCounter;
  readonly resolveBudget: ResolveBudget;
  readonly ids: IdGenerator;
  readonly clock: Clock;
}

const maxAttempts = 2;
/** A model for summaries may be smaller than the run's: its request also holds the messages and the previous summary. */
const summaryShare = 1 / 4;

/**
 * Replaces what the run's open compaction covers by one summary message. The facts end the compaction, with or without a
 * summary, and record what each attempt cost; they belong in one transaction. Rejects only with the reason of `signal`.
 */
export async function summarize(run: AgentRun, ports: SummarizePorts, signal: AbortSignal): Promise<NewFact[]> {
  const { compaction } = run.state;
  if (!compaction) return [];

  const meter = createMeter(run, ports.tokens);
  const summarizer = await summarizerFor(run, ports, { meter, signal });
  const input = toInput(run.state, compaction);
  const replacedTokens = sum(
    await meter.ofMessages(input.previous ? [input.previous, ...input.messages] : input.messages),
  );

  let error: RunError = nothingToSummarize;
  for (let attempt = 0; attempt < maxAttempts && input.messages.length > 0; attempt++) {
    const result = await attemptSummary(run, summarizer, input);
    if ('error' in result) {
      error = result.error;
      continue;
    }
    const message = await readMessage(run, { ports, meter, compaction, input, summary: result.text });
    if (toTokenCount(message) < replacedTokens) {
      return [...summarizer.usageFacts, ...(await summaryFacts(run, { message, compaction, meter }))];
    }
    error = notSmaller;
  }
  return [...summarizer.usageFacts, ...compactionFailed(run.state, error)];
}

/** Ends an open compaction without a summary; no facts where none is open. The conversation stays as it is. */
export const compactionFailed = ({ compaction, iteration }: RunState, error: RunError): NewFact[] =>
  compaction ? [{ type: 'context.compaction_failed', iteration, data: { compaction_id: compaction.id, error } }] : [];

const nothingToSummarize: RunError = {
  code: 'nothing_to_summarize',
  message: 'The messages to summarize were not found.',
};
const notSmaller: RunError = {
  code: 'summary_not_smaller',
  message: 'The summary was no smaller than what it replaces.',
};

async function summarizerFor(
  run: AgentRun,
  ports: SummarizePorts,
  { meter, signal }: { meter: ContextMeter; signal: AbortSignal },
): Promise<Summarizer> {
  const { settings, state } = run;
  const frame = await meter.ofFrame(frameText({ run, state }));
  const { resolveBudget } = ports;
  const modelName = settings.context.summary_model ?? settings.model;
  const budgetTokens = modelName === settings.model ? toInputBudget(settings, resolveBudget) : resolveBudget(modelName);
  const budget = toContextBudget({ settings, resolveBudget, frame, refusedTokens: undefined });
  return new Summarizer({
    ...ports,
    signal,
    modelName,
    style: toSummaryStyle(settings),
    iteration: state.iteration,
    targetTokens: Math.min(summaryTokens(budget, settings), Math.floor(budgetTokens * summaryShare)),
    budgetTokens,
    isBudgetExceeded: (usageFacts) => isBudgetExceeded(settings.budget, usageFacts.reduce(sumUsage, state.usage)),
  });
}

const sumUsage = (usage: Usage, fact: NewFact): Usage =>
  fact.type === 'usage.recorded' ? addUsage(usage, fact.data) : usage;

interface SummaryInput {
  readonly previous: NewMessage | undefined;
  /** The messages that the previous summary does not cover. */
  readonly messages: readonly NewMessage[];
}

function toInput({ conversation, context }: RunState, { covers }: OpenCompaction): SummaryInput {
  const range = findRange(conversation, covers);
  const summarized = findRange(conversation, context.summary?.covers);
  const messages = conversation.filter(
    ({ type }, index) => type !== 'summary' && within(range, index) && !within(summarized, index),
  );
  return { messages, previous: summarized && conversation.find(({ id }) => id === context.summary?.id) };
}

function attemptSummary(
  { settings }: AgentRun,
  summarizer: Summarizer,
  { previous, messages }: SummaryInput,
): Promise<SummaryResult> {
  const style = toSummaryStyle(settings);
  return summarizer.summarize(previous && summaryIn(previous), messages.map(style.item));
}

interface WrittenSummary {
  readonly ports: SummarizePorts;
  readonly meter: ContextMeter;
  readonly compaction: OpenCompaction;
  readonly input: SummaryInput;
  readonly summary: string;
}

async function readMessage(run: AgentRun, written: WrittenSummary): Promise<NewMessage> {
  const { ports, meter, compaction, input, summary } = written;
  const parts = {
    id: ports.ids.messageId(),
    iteration: run.state.iteration,
    summary,
    covers: compaction.covers,
    parentId: input.previous?.id,
    repeated: countRepeated({ run, state: run.state }, compaction.covers),
  };
  const tokenCount = sum(await meter.ofMessages([summaryMessage(run, { ...parts, tokenCount: 0 })]));
  return summaryMessage(run, { ...parts, tokenCount });
}

const toTokenCount = ({ metadata }: NewMessage): number => Number(metadata['token_count']);

async function summaryFacts(
  run: AgentRun,
  { message, compaction, meter }: { message: NewMessage; compaction: OpenCompaction; meter: ContextMeter },
): Promise<NewFact[]> {
  const iteration = run.state.iteration;
  const created: NewFact = { type: 'message.created', iteration, data: { message } };
  const data = {
    method: 'summary' as const,
    compaction_id: compaction.id,
    message_id: message.id,
    covers: compaction.covers,
    tokens_before: compaction.tokensBefore,
  };
  const toCompacted = (tokens_after: number): NewFact => ({
    type: 'context.compacted',
    iteration,
    data: { ...data, tokens_after },
  });
  const state = [created, toCompacted(0)].reduce<RunState>(evolve, run.state);
  return [created, toCompacted(await countRequestTokens({ run, state }, meter))];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const begin = '======== CONVERSATION HISTORY SUMMARY ========';
const end = '======== END OF SUMMARY ========';
const after = 'The above is a summary of the conversation so far. The conversation continues below.';

/** Begins a summary of the strategy `head_tail`, which is sent as a turn like others. */
const label = 'Conversation Summary: ';

/** The run that a summary is written for. */
type SummarizedRun = Pick<AgentRun, 'id' | 'threadId'> & {
  readonly settings: { readonly context: Pick<RunSettings['context'], 'strategy'> };
};

interface NewSummary {
  readonly id: MessageId;
  readonly iteration: number;
  readonly summary: string;
  readonly covers: Coverage;
  /** The earlier summary that this one includes. */
  readonly parentId: MessageId | undefined;
  /** Of the iterations that it replaces, those that repeat each other up to its end, if the one after it does so too. */
  readonly repeated?: number;
  readonly tokenCount: number;
}

/** A summary as it is stored in the thread and sent to the model, byte for byte. */
export const summaryMessage = (
  run: SummarizedRun,
  { id, iteration, summary, covers, parentId, repeated = 0, tokenCount }: NewSummary,
): NewMessage => ({
  id,
  thread_id: run.threadId,
  run_id: run.id,
  iteration,
  type: 'summary',
  is_llm_message: true,
  content: [{ type: 'text', text: frameSummary(summary, run.settings) }],
  metadata: { covers, parent_summary_id: parentId ?? null, token_count: tokenCount, ...(repeated > 0 && { repeated }) },
});

const frameSummary = (summary: string, { context }: SummarizedRun['settings']): string =>
  context.strategy === 'head_tail' ? `${label}${summary}` : [begin, quoteMarks(summary), end, after].join('\n\n');

/** The summary without its frame. Accepts the frames of all strategies, because the runs of a thread may differ in theirs. */
export function summaryIn({ content }: NewMessage): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  if (text.startsWith(label)) return text.slice(label.length).trim();
  const from = text.startsWith(begin) ? begin.length : 0;
  const to = text.lastIndexOf(end);
  return text.slice(from, to < from ? undefined : to).trim();
}
