import { Controller } from '@nestjs/common';
import { accounts as routes } from '@rondo/contract/api';
import { Accounts } from '@rondo/persistence';
import { AccountLimits } from '../billing/account-limits';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class AccountListController {
  constructor(
    private readonly accounts: Accounts,
    private readonly limits: AccountLimits,
  ) {}

  @Route(routes.listAccounts)
  async listAccounts({ query }: RouteInput<typeof routes.listAccounts>) {
    const { tiers } = this.limits;
    const page = await this.accounts.list(query);
    const data = page.data.map((account) => ({ ...account, tier: tiers?.of(account.tier).name ?? null }));
    return { ...page, data, tiers: [...(tiers?.names ?? [])] };
  }
}
