import type { AccountPage, AccountWithKey, Balance, Credit, ListedAccount, NewCredit } from './generated/api.ts';
import { itemsOf } from './pages.ts';
import type { Options } from './runs.ts';
import type { Transport } from './transport.ts';

/** All accounts of a deployment, for the account that operates it. */
export class Accounts {
  constructor(private readonly transport: Transport) {}

  /** The only answer that has the new account's key. */
  create(name: string): Promise<AccountWithKey> {
    return this.transport.json({ method: 'POST', path: '/v1/admin/accounts', json: { name }, repeatable: false });
  }

  /** The operator's own, then the newest first. */
  list(query: { readonly limit?: number } = {}): AsyncGenerator<ListedAccount, void> {
    return itemsOf(this.transport, '/v1/admin/accounts', query);
  }

  /** The names of the tiers; none if the deployment limits nothing. */
  async tiers({ signal }: Options = {}): Promise<readonly string[]> {
    const query = { limit: 1 };
    const page: AccountPage = await this.transport.json({ path: '/v1/admin/accounts', query, signal });
    return page.tiers;
  }

  balance(id: string, { signal }: Options = {}): Promise<Balance> {
    return this.transport.json({ path: pathOf(id, 'balance'), signal });
  }

  /** Applies to new runs at once, and to active ones within seconds. Without a price factor, the account has that of the tier. */
  setTier(id: string, tier: string, price_factor?: number): Promise<Balance> {
    return this.transport.json({ method: 'PUT', path: pathOf(id, 'tier'), json: { tier, price_factor } });
  }

  /** A negative amount takes credit back. A request that is sent again by itself gives it once. */
  giveCredit(id: string, credit: NewCredit): Promise<Credit> {
    return this.transport.json({ method: 'POST', path: pathOf(id, 'credits'), json: credit });
  }
}

const pathOf = (id: string, what: string): string => `/v1/admin/accounts/${encodeURIComponent(id)}/${what}`;
