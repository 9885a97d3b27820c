import { Body, Controller, Delete, HttpCode, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { AccountId } from '@rondo/contract';
import { Accounts } from '@rondo/persistence';
import { Audited } from '../audit/audited';
import { RequireRole } from '../auth/api-key.guard';
import { Revocations } from '../auth/open-connections';
import { AccountParam } from '../http/path-params';
import { RunService } from '../runs/run-service';
import { AccountWithKeyDto, NewAccountDto, RemovedAccountDto } from './account.dto';

@ApiTags('accounts')
@Controller('v1/admin/accounts')
export class AccountAdministrationController {
  constructor(
    private readonly accounts: Accounts,
    private readonly revocations: Revocations,
    private readonly runService: RunService,
  ) {}

  @Post()
  @Audited('account.create')
  @RequireRole('operator')
  @ApiOperation({ summary: 'Create an account with its first key; for the operator of this deployment' })
  @ApiCreatedResponse({ type: AccountWithKeyDto.Output })
  async createAccount(@Body() { name }: NewAccountDto) {
    const { account, apiKey } = await this.accounts.create({ name, scopes: ['admin'] });
    return { account, api_key: apiKey.key };
  }

  @Delete(':account_id')
  @Audited('account.remove')
  @RequireRole('operator')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Remove an account and everything that it owns; for the operator of this deployment',
    description:
      'Its keys are revoked and its runs stopped at once; threads, runs, images and the account itself are deleted ' +
      'soon after. The request can be repeated until the account is gone.',
  })
  @ApiAcceptedResponse({ type: RemovedAccountDto.Output })
  async removeAccount(@AccountParam() { namedId: removedId }: { namedId: AccountId }) {
    const removed = await this.accounts.remove(removedId);
    await this.revocations.apply();
    await this.runService.stopAll(removedId, 'account removed');
    return removed;
  }
}
