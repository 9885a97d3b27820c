import { Controller } from '@nestjs/common';
import { userId } from '@rondo/contract';
import { accounts as accountsRoutes, newApiKey, settings as settingsRoutes } from '@rondo/contract/api';
import { Accounts, StoredSettings } from '@rondo/persistence';
import { Revocations } from '../auth/open-connections';
import { Route, type RouteInput } from '../http/route';
import { RunService } from '../runs/run-service';
import { AccountLimits } from '../billing/account-limits';
import { AccountQuotas } from '../billing/account-quotas';
import { InvalidRequest } from '../problems/api-error';
import { RunSettingsResolver } from '../settings/run-settings';

@Controller()
export class AccountAdministrationController {
  constructor(
    private readonly accounts: Accounts,
    private readonly revocations: Revocations,
    private readonly runService: RunService,
  ) {}

  @Route(accountsRoutes.createAccount)
  async createAccount({ body: { name } }: RouteInput<typeof accountsRoutes.createAccount>) {
    const { account, apiKey } = await this.accounts.create({ name, scopes: ['admin'] });
    return { account, api_key: apiKey.key };
  }

  @Route(accountsRoutes.removeAccount)
  async removeAccount({ address: { namedId } }: RouteInput<typeof accountsRoutes.removeAccount>) {
    const removed = await this.accounts.remove(namedId);
    await this.revocations.apply();
    await this.runService.stopAll(namedId, 'account removed');
    return removed;
  }
}

@Controller()
export class AccountListController {
  constructor(
    private readonly accounts: Accounts,
    private readonly limits: AccountLimits,
  ) {}

  @Route(accountsRoutes.listAccounts)
  async listAccounts({ query }: RouteInput<typeof accountsRoutes.listAccounts>) {
    const { tiers } = this.limits;
    const page = await this.accounts.list(query);
    const data = page.data.map((account) => ({ ...account, tier: tiers?.of(account.tier).name ?? null }));
    return { ...page, data, tiers: [...(tiers?.names ?? [])] };
  }
}

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

  @Route(accountsRoutes.createApiKey, { body: checkedApiKey })
  async createApiKey({ address: { accountId }, body }: RouteInput<typeof accountsRoutes.createApiKey>) {
    const { name, scopes, expires_at: expiry } = body;
    const expiresAt = expiry === undefined ? undefined : new Date(expiry);
    return this.quotas.within(accountId, { api_keys: 1 }, (bounds) =>
      this.accounts.createKey({ accountId, name, scopes, expiresAt, bounds }),
    );
  }

  @Route(accountsRoutes.listApiKeys)
  listApiKeys({ address, query }: RouteInput<typeof accountsRoutes.listApiKeys>) {
    return this.accounts.listKeys({ ...address, ...query });
  }

  @Route(accountsRoutes.revokeApiKey)
  async revokeApiKey({ address, caller }: RouteInput<typeof accountsRoutes.revokeApiKey>) {
    const { accountId, revokedId: keyId } = address;
    await this.accounts.revoke({ accountId, keyId, mayBeLast: userId.safeParse(caller.keyId).success });
    await this.revocations.apply();
  }
}

@Controller()
export class SettingsController {
  constructor(
    private readonly stored: StoredSettings,
    private readonly resolver: RunSettingsResolver,
  ) {}

  @Route(settingsRoutes.getSettings)
  getSettings({ address: { accountId } }: RouteInput<typeof settingsRoutes.getSettings>) {
    return this.stored.read(accountId);
  }

  /** Settings with which no run could begin on this deployment are refused. */
  @Route(settingsRoutes.setSettings)
  setSettings({ address: { accountId }, body: { settings } }: RouteInput<typeof settingsRoutes.setSettings>) {
    const outcome = this.resolver.resolve(settings, {});
    if ('problems' in outcome)
      throw new InvalidRequest(outcome.problems.map((problem) => ({ ...problem, field: `settings.${problem.field}` })));
    return this.stored.write(accountId, settings);
  }
}
