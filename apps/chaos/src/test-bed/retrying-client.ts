import { isTerminalFact } from '@rondo/contract';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Fact, RondoClient, type RunView } from '@rondo/test-deployment';

const pauseMs = 200;
/** Three gateways may die in a row that had begun the same request; each keeps its idempotency key in flight for a minute. */
const retryForMs = 300_000;
const answerWithinMs = 30_000;

interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly body?: unknown;
}

export interface StoredMessage {
  readonly run_id: string | null;
  readonly type: string;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

/** The API refused the request; a retry would not help. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/**
 * A client that retries at the next gateway when one is down or answers 5xx or 429. Its POSTs carry an Idempotency-Key,
 * so that a retry creates nothing twice.
 */
export class RetryingClient {
  private turn = 0;

  constructor(private readonly gateways: readonly RondoClient[]) {}

  /** A client of the same gateways with another API key. */
  withKey(key: string): RetryingClient {
    return new RetryingClient(this.gateways.map(({ url }) => new RondoClient(url, key)));
  }

  /** For each gateway a client that asks only that one. */
  ofEachGateway(): RetryingClient[] {
    return this.gateways.map((gateway) => new RetryingClient([gateway]));
  }

  async ask<Body>(request: ApiRequest, withinMs = retryForMs): Promise<Body> {
    const key = randomUUID();
    const deadline = Date.now() + withinMs;
    for (;;) {
      const reason = await this.attempt(request, key).then(
        (answer) => answer,
        (error: unknown) => ({ away: error }),
      );
      if ('body' in reason) return reason.body as Body; // of the contract's shape; the examination fails on any other
      if (reason.away instanceof RefusedError || Date.now() > deadline) throw reason.away;
      await delay(pauseMs);
    }
  }

  createRun(body: Record<string, unknown>): Promise<RunView> {
    return this.ask({ method: 'POST', path: '/runs', body });
  }

  /** The run once it has ended or waits; undefined after `withinMs`. */
  async settled(id: string, withinMs: number): Promise<RunView | undefined> {
    const deadline = Date.now() + withinMs;
    while (Date.now() < deadline) {
      const run = await this.ask<RunView>({ method: 'GET', path: `/runs/${id}/wait?timeout_s=10` }, withinMs);
      if (isSettled(run)) return run;
    }
    return undefined;
  }

  /** All facts, without a check for gaps. */
  async facts(id: string): Promise<Fact[]> {
    const facts: Fact[] = [];
    for (;;) {
      const after = facts.at(-1)?.seq ?? 0;
      const page = await this.ask<{ data: Fact[]; head_seq: number }>({
        method: 'GET',
        path: `/runs/${id}/events?after=${after}&limit=200`,
      });
      facts.push(...page.data);
      if (page.data.length === 0 || (facts.at(-1)?.seq ?? 0) >= page.head_seq) return facts;
    }
  }

  /** Every item of a list, page by page. `path` has no `limit` and no `after`. */
  async list<Item>(path: string): Promise<Item[]> {
    const items: Item[] = [];
    const separator = path.includes('?') ? '&' : '?';
    for (let cursor = '', hasMore = true; hasMore;) {
      const after = cursor === '' ? '' : `&after=${encodeURIComponent(cursor)}`;
      const page = await this.ask<{ data: Item[]; has_more: boolean; next_cursor: string | null }>({
        method: 'GET',
        path: `${path}${separator}limit=100${after}`,
      });
      items.push(...page.data);
      [cursor, hasMore] = [page.next_cursor ?? '', page.has_more];
    }
    return items;
  }

  /** All messages of a thread. */
  async messages(threadId: string): Promise<StoredMessage[]> {
    const { data } = await this.ask<{ data: StoredMessage[] }>({
      method: 'GET',
      path: `/threads/${threadId}/messages?limit=200`,
    });
    return data;
  }

  private async attempt(
    { method, path, body }: ApiRequest,
    key: string,
  ): Promise<{ body: unknown } | { away: unknown }> {
    const gateway = this.gateways[this.turn++ % this.gateways.length];
    if (!gateway) throw new RefusedError('there is no gateway');
    const response = await fetch(`${gateway.url}/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${gateway.key}`,
        ...(method !== 'GET' && { 'Content-Type': 'application/json' }),
        ...(method === 'POST' && { 'Idempotency-Key': key }),
      },
      signal: AbortSignal.timeout(answerWithinMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return { body: JSON.parse(text) };
    const what = `${method} ${path} → ${response.status} ${text}`;
    if (response.status >= 500 || response.status === 429 || text.includes('idempotency_in_flight')) {
      return { away: new Error(what) };
    }
    throw new RefusedError(what);
  }
}

export const isOver = ({ status }: Pick<RunView, 'status'>): boolean => isTerminalFact({ type: `run.${status}` });

/** It is over, or waits for a person. */
export const isSettled = (run: Pick<RunView, 'status'>): boolean =>
  isOver(run) || run.status === 'waiting_input' || run.status === 'waiting_budget';
