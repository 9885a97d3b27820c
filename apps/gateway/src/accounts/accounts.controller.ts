import { Body, Controller, Delete, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { AccountId, ApiKeyId } from '@rondo/domain';
import { Accounts, type Caller } from '@rondo/persistence';
import { Admits, CurrentCaller } from '../auth/api-key.guard';
import { KeyRing } from '../auth/key-ring';
import { OpenConnections } from '../auth/open-connections';
import { AddressedKey } from '../door/addressed';
import {
  AccountWithKeyDto,
  ApiKeyPageDto,
  ApiKeyQueryDto,
  ApiKeyWithSecretDto,
  NewAccountDto,
  NewApiKeyDto,
} from './account.dto';

@ApiTags('accounts')
@Controller('v1')
export class AccountsController {
  constructor(
    private readonly accounts: Accounts,
    private readonly keys: KeyRing,
    private readonly connections: OpenConnections,
  ) {}

  @Post('admin/accounts')
  @Admits('operator')
  @ApiOperation({ summary: 'Make an account with its first key; for the admin of this installation' })
  @ApiCreatedResponse({ type: AccountWithKeyDto.Output })
  async createAccount(@Body() { name }: NewAccountDto) {
    const { account, apiKey } = await this.accounts.create({ name, scopes: ['admin'] });
    return { account, api_key: apiKey.key };
  }

  @Post('api-keys')
  @Admits('account-admin')
  @ApiOperation({ summary: 'Make an API key; for admins of the account' })
  @ApiCreatedResponse({ type: ApiKeyWithSecretDto.Output })
  createKey(@CurrentCaller() { accountId }: Caller, @Body() { name, scopes }: NewApiKeyDto) {
    return this.accounts.createKey({ accountId, name, scopes });
  }

  @Get('api-keys')
  @Admits('account-admin')
  @ApiOperation({ summary: 'List the API keys of the account, newest first; for its admins' })
  @ApiOkResponse({ type: ApiKeyPageDto.Output })
  listKeys(@CurrentCaller() { accountId }: Caller, @Query() { limit, after }: ApiKeyQueryDto) {
    return this.accounts.listKeys({ accountId, limit, after });
  }

  @Delete('api-keys/:key_id')
  @Admits('account-admin')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke an API key; open connections follow within seconds' })
  @ApiNoContentResponse()
  async revokeKey(@AddressedKey() { accountId, revokedId }: { accountId: AccountId; revokedId: ApiKeyId }) {
    await this.accounts.revoke({ accountId, keyId: revokedId });
    this.keys.forget();
    await this.connections.check();
  }
}
