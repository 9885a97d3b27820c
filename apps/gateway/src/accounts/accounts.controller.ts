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
import { Admits, CurrentCaller } from '../auth/api-key.guard';
import { Revocations } from '../auth/revocations';
import { AddressedAccount, AddressedKey } from '../http/addressed';
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
    private readonly desk: RunService,
  ) {}

  @Post('admin/accounts')
  @Admits('operator')
  @ApiOperation({ summary: 'Make an account with its first key; for the admin of this installation' })
  @ApiCreatedResponse({ type: AccountWithKeyDto.Output })
  async createAccount(@Body() { name }: NewAccountDto) {
    const { account, apiKey } = await this.accounts.create({ name, scopes: ['admin'] });
    return { account, api_key: apiKey.key };
  }

  @Delete('admin/accounts/:account_id')
  @Admits('operator')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Remove an account with everything that it owns; for the admin of this installation',
    description:
      'Its keys are revoked and its runs told to stop at once; threads, runs, images and the account itself are deleted ' +
      'soon after. It may be asked for again until the account is gone.',
  })
  @ApiAcceptedResponse({ type: RemovedAccountDto.Output })
  async removeAccount(@AddressedAccount() { removedId }: { removedId: AccountId }) {
    const removed = await this.accounts.remove(removedId);
    await this.revocations.takeEffect();
    await this.desk.stopAll(removedId, 'account removed');
    return removed;
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
    await this.revocations.takeEffect();
  }
}
