import { Body, Controller, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { AccountId, ApiKeyId } from '@rondo/contract';
import { Accounts, type Caller } from '@rondo/persistence';
import { Audited } from '../audit/audited';
import { CurrentCaller, RequireRole } from '../auth/api-key.guard';
import { Revocations } from '../auth/open-connections';
import { AccountQuotas } from '../billing/account-quotas';
import { ApiKeyParam } from '../http/path-params';
import { ApiKeyPageDto, ApiKeyQueryDto, ApiKeyWithSecretDto, NewApiKeyDto } from './account.dto';

@ApiTags('accounts')
@Controller('v1')
export class AccountsController {
  constructor(
    private readonly accounts: Accounts,
    private readonly revocations: Revocations,
    private readonly quotas: AccountQuotas,
  ) {}

  @Post('api-keys')
  @Audited('api_key.create')
  @RequireRole('account-admin')
  @ApiOperation({ summary: 'Create an API key; for admins of the account' })
  @ApiCreatedResponse({ type: ApiKeyWithSecretDto.Output })
  async createApiKey(
    @CurrentCaller() { accountId }: Caller,
    @Body() { name, scopes, expires_at: expiry }: NewApiKeyDto,
  ) {
    await this.quotas.add(accountId, { api_keys: 1 });
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
