import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Accounts } from '@rondo/persistence';
import { RequireRole } from '../auth/api-key.guard';
import { AccountLimits } from '../billing/account-limits';
import { AccountPageDto, AccountQueryDto } from './account.dto';

@ApiTags('accounts')
@Controller('v1/admin/accounts')
export class AccountListController {
  constructor(
    private readonly accounts: Accounts,
    private readonly limits: AccountLimits,
  ) {}

  @Get()
  @RequireRole('operator')
  @ApiOperation({
    summary:
      'List the accounts with their tiers, the own one and then the newest first; for the operator of this deployment',
  })
  @ApiOkResponse({ type: AccountPageDto.Output })
  async listAccounts(@Query() { limit, after }: AccountQueryDto) {
    const { tiers } = this.limits;
    const page = await this.accounts.list({ limit, after });
    const data = page.data.map((account) => ({ ...account, tier: tiers?.of(account.tier).name ?? null }));
    return { ...page, data, tiers: tiers?.names ?? [] };
  }
}
