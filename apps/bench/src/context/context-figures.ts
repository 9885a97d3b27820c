import type { Fact } from '@rondo/test-deployment';

interface Bill {
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly finish_reason: string;
}

/** Figures about the context of a long run, computed from its log. */
export interface ContextFigures {
  readonly iterations: number;
  readonly compactions: number;
  /** Compactions that shortened texts instead of writing a summary. */
  readonly withoutSummary: number;
  /** Requests that the provider refused as too long. */
  readonly overflows: number;
  readonly largestRequestTokens: number;
  /** Of all the input tokens of the run's own requests. */
  readonly cachedShare: number;
  /** Without the first request and those that directly follow a compaction: their prefix is new. */
  readonly cachedShareBetweenCompactions: number;
}

export function contextFigures(facts: readonly Fact[]): ContextFigures {
  const compacted = ofType(facts, 'context.compacted');
  const bills = listBills(facts);
  return {
    iterations: ofType(facts, 'iteration.completed').length,
    compactions: compacted.length,
    withoutSummary: compacted.filter(({ data }) => data.method !== 'summary').length,
    overflows: bills.filter(({ bill }) => bill.finish_reason === 'overflow').length,
    largestRequestTokens: Math.max(...bills.map(({ bill }) => bill.input_tokens)),
    cachedShare: measureCachedShare(bills),
    cachedShareBetweenCompactions: measureCachedShare(bills.filter(({ hasNewPrefix }) => !hasNewPrefix)),
  };
}

const ofType = (facts: readonly Fact[], wanted: string): Fact[] => facts.filter(({ type }) => type === wanted);

interface Request {
  readonly bill: Bill;
  readonly hasNewPrefix: boolean;
}

/** The bills of the run's own requests; those for summaries are not among them. */
function listBills(facts: readonly Fact[]): Request[] {
  let hasNewPrefix = true;
  return facts.flatMap(({ type, data }) => {
    if (type === 'context.compacted') hasNewPrefix = true;
    if (type !== 'usage.recorded' || data.finish_reason === 'summary') return [];
    const request = { bill: data as Bill & typeof data, hasNewPrefix }; // the contract says so
    hasNewPrefix = false;
    return request;
  });
}

const measureCachedShare = (requests: readonly Request[]): number =>
  sum(requests, ({ cached_tokens }) => cached_tokens) / sum(requests, ({ input_tokens }) => input_tokens);

const sum = (requests: readonly Request[], of: (bill: Bill) => number): number =>
  requests.reduce((total, { bill }) => total + of(bill), 0);
