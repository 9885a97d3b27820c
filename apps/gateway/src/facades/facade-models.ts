import type { AccountId } from '@rondo/contract';
import type { AccountLimits } from '../billing/account-limits';
import type { ModelCatalog, OfferedModel } from '../catalog/model-catalog';
import type { RunSettingsResolver } from '../settings/run-settings';

/** The models that clients of façades may choose. */
export class FacadeModels {
  constructor(
    private readonly catalog: Pick<ModelCatalog, 'listFor'>,
    private readonly limits: Pick<AccountLimits, 'toTerms'>,
  ) {}

  /** Those that the account may use. */
  async list(accountId: AccountId): Promise<readonly OfferedModel[]> {
    return this.catalog.listFor(await this.limits.toTerms(accountId)).filter(({ allowed }) => allowed);
  }

  /** The one of this name, or alias, or of this name among those of the vendor. */
  async find(accountId: AccountId, name: string, vendor: string): Promise<OfferedModel | undefined> {
    const models = await this.list(accountId);
    const named = models.find(({ id, aliases }) => id === name || aliases.includes(name));
    return named ?? models.find(({ id }) => id === `${vendor}/${name}`);
  }
}

/** Names of models without a provider are those of the vendor whose client sends them, unless they are an alias of this deployment. */
export function toModelName(name: string, vendor: string, settings: Pick<RunSettingsResolver, 'isModelName'>): string {
  return name.includes('/') || settings.isModelName(name) ? name : `${vendor}/${name}`;
}
