import { Controller } from '@nestjs/common';
import type { AccountId, Balance } from '@rondo/contract';
import { billing } from '@rondo/contract/api';
import type { AccountTier } from '@rondo/domain';
import { Balances } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { InvalidRequest } from '../problems/api-error';
import { AccountLimits } from './account-limits';
import { AccountQuotas } from './account-quotas';

@Controller()
export class BalanceController {
  constructor(
    private readonly limits: AccountLimits,
    private readonly balances: Balances,
    private readonly quotas: AccountQuotas,
  ) {}

  @Route(billing.getBalance)
  getBalance({ address }: RouteInput<typeof billing.getBalance>) {
    return this.readBalance(address.accountId);
  }

  @Route(billing.getAccountBalance)
  getAccountBalance({ address }: RouteInput<typeof billing.getAccountBalance>) {
    return this.readBalance(address.namedId);
  }

  @Route(billing.setAccountTier)
  async setAccountTier({ address: { namedId: accountId }, body }: RouteInput<typeof billing.setAccountTier>) {
    const tier = this.requireTier(body.tier);
    await this.balances.setTier({ accountId, tier, priceFactor: body.price_factor });
    return this.readBalance(accountId);
  }

  @Route(billing.giveCredit)
  giveCredit({ address: { namedId }, body: { usd, reason }, caller, promised }: RouteInput<typeof billing.giveCredit>) {
    const { toLimit } = this.limits;
    return this.balances.give({ accountId: namedId, usd, reason, givenBy: caller.keyId, toLimit, promised });
  }

  private async readBalance(accountId: AccountId): Promise<Balance> {
    const balance = await this.limits.toBalance(accountId);
    return { ...balance, quotas: await this.quotas.readQuotas(accountId) };
  }

  private requireTier(name: string): AccountTier {
    const { tiers } = this.limits;
    if (tiers?.names.includes(name)) return tiers.of(name);
    const message = tiers
      ? `must be one of ${tiers.names.join(', ')}`
      : 'this deployment has no tiers: set ACCOUNT_TIERS';
    throw new InvalidRequest([{ field: 'tier', message }]);
  }
}
