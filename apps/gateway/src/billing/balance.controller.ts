import { Body, Controller, Get, Post, Put, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { AccountId, Balance, Credit } from '@rondo/contract';
import type { AccountTier } from '@rondo/domain';
import { Balances, type Caller } from '@rondo/persistence';
import type { Response } from 'express';
import { Audited } from '../audit/audited';
import { CurrentCaller, RequireRole } from '../auth/api-key.guard';
import { AccountParam } from '../http/path-params';
import { pendingResponse } from '../idempotency/idempotent-requests';
import { InvalidRequest } from '../problems/api-error';
import { AccountLimits } from './account-limits';
import { AccountQuotas } from './account-quotas';
import { AccountTierDto, BalanceDto, CreditDto, NewCreditDto } from './balance.dto';

interface NamedAccount extends Pick<Caller, 'keyId'> {
  readonly namedId: AccountId;
}

@ApiTags('usage')
@Controller('v1')
export class BalanceController {
  constructor(
    private readonly limits: AccountLimits,
    private readonly balances: Balances,
    private readonly quotas: AccountQuotas,
  ) {}

  @Get('balance')
  @ApiOperation({
    summary: 'Get what the account may use and has used',
    description: 'Its tier, what it has spent in the current period, what is reserved for model calls, and its credit.',
  })
  @ApiOkResponse({ type: BalanceDto.Output })
  getBalance(@CurrentCaller() { accountId }: Caller) {
    return this.readBalance(accountId);
  }

  @Get('admin/accounts/:account_id/balance')
  @RequireRole('operator')
  @ApiOperation({ summary: 'Get the balance of an account; for the operator of this deployment' })
  @ApiOkResponse({ type: BalanceDto.Output })
  getAccountBalance(@AccountParam() { namedId }: NamedAccount) {
    return this.readBalance(namedId);
  }

  @Put('admin/accounts/:account_id/tier')
  @Audited('account.tier')
  @RequireRole('operator')
  @ApiOperation({
    summary: 'Set the tier of an account; for the operator of this deployment',
    description:
      'It applies to new runs at once, and to model calls of active runs within seconds. Without `price_factor`, the account ' +
      'has that of the tier.',
  })
  @ApiOkResponse({ type: BalanceDto.Output })
  async setAccountTier(
    @AccountParam() { namedId: accountId }: NamedAccount,
    @Body() { tier, price_factor: priceFactor }: AccountTierDto,
  ) {
    await this.balances.setTier({ accountId, tier: this.tierNamed(tier), priceFactor });
    return this.readBalance(accountId);
  }

  @Post('admin/accounts/:account_id/credits')
  @Audited('account.credit')
  @RequireRole('operator')
  @ApiOperation({
    summary: 'Give an account credit, or take it back; for the operator of this deployment',
    description:
      'Credit is used when the allowance of the period is. With an `Idempotency-Key`, a repeated request gives it once.',
  })
  @ApiCreatedResponse({ type: CreditDto.Output })
  giveCredit(
    @AccountParam() { namedId: accountId, keyId: givenBy }: NamedAccount,
    @Body() { usd, reason }: NewCreditDto,
    @Res({ passthrough: true }) response: Response,
  ) {
    const promised = pendingResponse<Credit>(response, { status: 201 });
    return this.balances.give({ accountId, usd, reason, givenBy, limitOf: this.limits.limitOf, promised });
  }

  private async readBalance(accountId: AccountId): Promise<Balance> {
    const balance = await this.limits.balanceOf(accountId);
    return { ...balance, quotas: await this.quotas.readQuotas(accountId) };
  }

  private tierNamed(name: string): AccountTier {
    const { tiers } = this.limits;
    if (tiers?.names.includes(name)) return tiers.of(name);
    const message = tiers
      ? `must be one of ${tiers.names.join(', ')}`
      : 'this deployment has no tiers: set ACCOUNT_TIERS';
    throw new InvalidRequest([{ field: 'tier', message }]);
  }
}
