import type { AccountId } from '@rondo/contract';
import type { AccountLimits } from '../billing/account-limits';
import type { ModelCatalog, OfferedModel } from '../catalog/model-catalog';

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
}
