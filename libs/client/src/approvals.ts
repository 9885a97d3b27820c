import type { Approval, ApprovalDecision, InboxPage } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** A run that waits for a person. */
export type InboxItem = InboxPage['data'][number];

/** What runs of an account wait for a person to decide. */
export class Approvals {
  constructor(private readonly transport: Transport) {}

  /** The open ones, oldest first. */
  list(query: { readonly limit?: number } = {}): AsyncGenerator<Approval, void> {
    return itemsOf(this.transport, '/v1/approvals', query);
  }

  get(id: string, { signal }: Options = {}): Promise<Approval> {
    return this.transport.json({ path: pathOf(id), signal });
  }

  /** Refused if another decision came first, or if the call has other arguments than those with this hash. */
  decide(id: string, decision: ApprovalDecision, { signal }: Options = {}): Promise<Approval> {
    return this.transport.json({ method: 'POST', path: `${pathOf(id)}/decision`, json: decision, signal });
  }

  /** All runs that wait for a person: for an answer, a decision about calls, or a ruling on calls with an unknown outcome. */
  inbox(query: { readonly limit?: number } = {}): AsyncGenerator<InboxItem, void> {
    return itemsOf(this.transport, '/v1/inbox', query);
  }
}

const pathOf = (id: string): string => `/v1/approvals/${encodeURIComponent(id)}`;
