import type { BrowserState, Fact, FactWithType, Message, RunCreated } from '@rondo/client';
import { between } from '../ui/amounts.ts';

/** One round of the model and its tools. */
export interface Iteration {
  readonly number: number;
  /** The fact with which it began. */
  readonly startedSeq: number;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
  /** What answered in it. Null until it has. */
  readonly model: string | null;
}

export interface PlanItem {
  readonly text: string;
  readonly isDone: boolean;
}

/** What a page shows of a run beside its rows. */
export interface RunDetails {
  readonly model: string | null;
  /** The question of another run in whose place this one's is. */
  readonly editsMessageId: string | null;
  readonly createdAt: string | null;
  readonly endedAt: string | null;
  /** When the last fact happened. */
  readonly lastAt: string | null;
  readonly iterations: ReadonlyMap<number, Iteration>;
  /** What the browser showed, oldest first. */
  readonly screens: readonly BrowserState[];
  readonly plan: readonly PlanItem[];
  /** Tokens of the newest request to the model. */
  readonly contextTokens: number;
  readonly stopRequest: { readonly at: string; readonly reason: string | null } | null;
  /** How long the log rested between the facts that a fork shares and its own, in milliseconds. */
  readonly restedMs: number;
  /** When each call was sent. */
  readonly sentAt: ReadonlyMap<string, string>;
}

const noDetails: RunDetails = {
  model: null,
  editsMessageId: null,
  createdAt: null,
  endedAt: null,
  lastAt: null,
  iterations: new Map(),
  screens: [],
  plan: [],
  contextTokens: 0,
  stopRequest: null,
  restedMs: 0,
  sentAt: new Map(),
};

/** Details that each fact changes in place: to copy them, or their maps, would take longer than the rest. */
interface GrowingDetails extends RunDetails {
  lastAt: string | null;
  readonly iterations: Map<number, Iteration>;
  readonly sentAt: Map<string, string>;
}

export const newDetails = (): GrowingDetails => ({ ...noDetails, iterations: new Map(), sentAt: new Map() });

export function addFact(details: GrowingDetails, fact: Fact): void {
  Object.assign(details, changes(details, fact));
  details.lastAt = fact.at;
}

/** What the fact changes beside the maps. */
function changes(before: GrowingDetails, fact: Fact): Partial<RunDetails> | undefined {
  switch (fact.type) {
    case 'run.created':
      return toBegun(fact);
    case 'run.forked':
      return { restedMs: before.restedMs + between(fact.data.paused_since, fact.at) };
    case 'iteration.started':
      changeIteration(before, fact.iteration, { startedSeq: fact.seq, startedAt: fact.at });
      return undefined;
    case 'iteration.completed':
      changeIteration(before, fact.iteration, { endedAt: fact.at });
      return undefined;
    case 'usage.recorded':
      return addUsage(before, fact);
    case 'browser.state':
      return { screens: [...before.screens, fact] };
    case 'tool.started':
      before.sentAt.set(fact.data.tool_call_id, fact.at);
      return undefined;
    case 'message.created':
      return { plan: readPlan(fact.data.message) ?? before.plan };
    case 'run.stop_requested':
      return { stopRequest: { at: fact.data.requested_at, reason: fact.data.reason ?? fact.data.error ?? null } };
    case 'run.completed':
    case 'run.failed':
    case 'run.stopped':
      return { endedAt: fact.at };
    default:
      return undefined;
  }
}

const toBegun = ({ at, data }: RunCreated) => ({
  model: data.model,
  createdAt: at,
  editsMessageId: data.edits_message_id ?? null,
});

const newIteration = {
  startedSeq: 0,
  startedAt: '',
  endedAt: null,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  model: null,
};

function changeIteration({ iterations }: GrowingDetails, number: number, change: Partial<Iteration>): void {
  iterations.set(number, { ...(iterations.get(number) ?? { ...newIteration, number }), ...change });
}

function addUsage(before: GrowingDetails, { iteration, data }: FactWithType<'usage.recorded'>): Partial<RunDetails> {
  const known = before.iterations.get(iteration);
  const costUsd = data.cost_usd === null || known?.costUsd === null ? null : (known?.costUsd ?? 0) + data.cost_usd;
  changeIteration(before, iteration, {
    inputTokens: (known?.inputTokens ?? 0) + data.input_tokens,
    outputTokens: (known?.outputTokens ?? 0) + data.output_tokens,
    costUsd,
    model: data.model,
  });
  return { contextTokens: data.input_tokens + data.output_tokens };
}

/** The items of a state message about the plan. Its metadata is written by Rondo, the texts in it by the model. */
export function readPlan({ type, metadata }: Message): PlanItem[] | undefined {
  if (type !== 'status' || metadata['kind'] !== 'plan_updated' || !Array.isArray(metadata['items'])) return undefined;
  const items: readonly unknown[] = metadata['items'];
  return items.flatMap((item) => {
    if (typeof item !== 'object' || item === null || !('text' in item) || typeof item.text !== 'string') return [];
    return { text: item.text, isDone: 'done' in item && item.done === true };
  });
}

/** How long the run has taken until `end`, in milliseconds. A fork counts what it shares, and not the time in which its log rested. */
export const measureRun = ({ createdAt, restedMs }: Pick<RunDetails, 'createdAt' | 'restedMs'>, end: string): number =>
  createdAt === null ? 0 : Math.max(0, between(createdAt, end) - restedMs);
