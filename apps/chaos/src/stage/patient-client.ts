import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Fact, type RondoClient, type RunView, isTerminal } from '@rondo/test-deployment';

const pauseMs = 200;
const patienceMs = 150_000;
const answerWithinMs = 30_000;

interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
}

export interface StoredMessage {
  readonly run_id: string | null;
  readonly type: string;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

/** The API said no: asking again would not help. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/**
 * A careful outside client. It knows several gateways, and asks the next one when one is away or says that it is not its
 * fault (5xx, 429); what it creates carries an Idempotency-Key, so that asking again creates nothing twice.
 */
export class PatientClient {
  private turn = 0;

  constructor(private readonly gateways: readonly RondoClient[]) {}

  async ask<Body>(question: Question, withinMs = patienceMs): Promise<Body> {
    const key = randomUUID();
    const deadline = Date.now() + withinMs;
    for (;;) {
      const reason = await this.attempt(question, key).then(
        (answer) => answer,
        (error: unknown) => ({ away: error }),
      );
      if ('body' in reason) return reason.body as Body; // the contract's; what breaks it fails the examination
      if (reason.away instanceof RefusedError || Date.now() > deadline) throw reason.away;
      await delay(pauseMs);
    }
  }

  createRun(body: Record<string, unknown>): Promise<RunView> {
    return this.ask({ method: 'POST', path: '/runs', body });
  }

  /** The run once it is over or waits for somebody; undefined when that takes longer. */
  async settled(id: string, withinMs: number): Promise<RunView | undefined> {
    const deadline = Date.now() + withinMs;
    while (Date.now() < deadline) {
      const run = await this.ask<RunView>({ method: 'GET', path: `/runs/${id}/wait?timeout_s=10` }, withinMs);
      if (isSettled(run)) return run;
    }
    return undefined;
  }

  /** The log as it is, gaps and all. */
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

  /** The conversation of a thread, from its beginning. */
  async messages(threadId: string): Promise<StoredMessage[]> {
    const { data } = await this.ask<{ data: StoredMessage[] }>({
      method: 'GET',
      path: `/threads/${threadId}/messages?limit=200`,
    });
    return data;
  }

  private async attempt({ method, path, body }: Question, key: string): Promise<{ body: unknown } | { away: unknown }> {
    const gateway = this.gateways[this.turn++ % this.gateways.length];
    if (!gateway) throw new RefusedError('there is no gateway');
    const response = await fetch(`${gateway.url}/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${gateway.key}`,
        ...(method === 'POST' && { 'Content-Type': 'application/json', 'Idempotency-Key': key }),
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

export const isSettled = ({ status }: RunView): boolean =>
  isTerminal({ type: `run.${status}` }) || status.startsWith('waiting_');
