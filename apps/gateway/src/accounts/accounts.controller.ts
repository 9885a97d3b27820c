import { Body, Controller, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { AccountId, ApiKeyId } from '@rondo/contract';
import { Accounts, type Caller } from '@rondo/persistence';
import { Audited } from '../audit/audited';
import { CurrentCaller, RequireRole } from '../auth/api-key.guard';
import { Revocations } from '../auth/open-connections';
import { AccountParam, ApiKeyParam } from '../http/path-params';
import { RunService } from '../runs/run-service';
import {
  AccountWithKeyDto,
  ApiKeyPageDto,
  ApiKeyQueryDto,
  ApiKeyWithSecretDto,
  NewAccountDto,
  NewApiKeyDto,
  RemovedAccountDto,
} from './account.dto';

@ApiTags('accounts')
@Controller('v1')
export class AccountsController {
  constructor(
    private readonly accounts: Accounts,
    private readonly revocations: Revocations,
    private readonly runService: RunService,
  ) {}

  @Post('admin/accounts')
  @Audited('account.create')
  @RequireRole('operator')
  @ApiOperation({ summary: 'Create an account with its first key; for the operator of this deployment' })
  @ApiCreatedResponse({ type: AccountWithKeyDto.Output })
  async createAccount(@Body() { name }: NewAccountDto) {
    const { account, apiKey } = await this.accounts.create({ name, scopes: ['admin'] });
    return { account, api_key: apiKey.key };
  }

  @Delete('admin/accounts/:account_id')
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

  @Post('api-keys')
  @Audited('api_key.create')
  @RequireRole('account-admin')
  @ApiOperation({ summary: 'Create an API key; for admins of the account' })
  @ApiCreatedResponse({ type: ApiKeyWithSecretDto.Output })
  createApiKey(@CurrentCaller() { accountId }: Caller, @Body() { name, scopes, expires_at: expiry }: NewApiKeyDto) {
    return this.accounts.createKey({
      accountId,
      name,
      scopes,
      ...(expiry !== undefined && { expiresAt: new Date(expiry) }),
    });
  }

  @Get('api-keys')
  @RequireRole('account-admin')
  @ApiOperation({ summary: 'List the API keys of the account, newest first; for its admins' })
  @ApiOkResponse({ type: ApiKeyPageDto.Output })
  listApiKeys(@CurrentCaller() { accountId }: Caller, @Query() { limit, after }: ApiKeyQueryDto) {
    return this.accounts.listKeys({ accountId, limit, after });
  }

  @Delete('api-keys/:key_id')
  @Audited('api_key.revoke')
  @RequireRole('account-admin')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke an API key; its open connections are closed within seconds' })
  @ApiNoContentResponse()
  async revokeApiKey(@ApiKeyParam() { accountId, revokedId }: { accountId: AccountId; revokedId: ApiKeyId }) {
    await this.accounts.revoke({ accountId, keyId: revokedId });
    await this.revocations.apply();
  }
}
