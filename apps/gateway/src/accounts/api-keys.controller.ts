import { Controller } from '@nestjs/common';
import { newApiKey, accounts as routes } from '@rondo/contract/api';
import { Accounts } from '@rondo/persistence';
import { Revocations } from '../auth/open-connections';
import { AccountQuotas } from '../billing/account-quotas';
import { Route, type RouteInput } from '../http/route';

const checkedApiKey = newApiKey.refine(({ expires_at: at }) => at === undefined || Date.parse(at) > Date.now(), {
  path: ['expires_at'],
  message: 'must be in the future',
});

@Controller()
export class ApiKeysController {
  constructor(
    private readonly accounts: Accounts,
    private readonly revocations: Revocations,
    private readonly quotas: AccountQuotas,
  ) {}

  @Route(routes.createApiKey, { body: checkedApiKey })
  async createApiKey({ address: { accountId }, body }: RouteInput<typeof routes.createApiKey>) {
    const { name, scopes, expires_at: expiry } = body;
    await this.quotas.add(accountId, { api_keys: 1 });
    const expiresAt = expiry === undefined ? undefined : new Date(expiry);
    return this.accounts.createKey({ accountId, name, scopes, expiresAt });
  }

  @Route(routes.listApiKeys)
  listApiKeys({ address, query }: RouteInput<typeof routes.listApiKeys>) {
    return this.accounts.listKeys({ ...address, ...query });
  }

  @Route(routes.revokeApiKey)
  async revokeApiKey({ address: { accountId, revokedId } }: RouteInput<typeof routes.revokeApiKey>) {
    await this.accounts.revoke({ accountId, keyId: revokedId });
    await this.revocations.apply();
  }
}
