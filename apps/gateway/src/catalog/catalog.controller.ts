import { Controller } from '@nestjs/common';
import { catalog as routes } from '@rondo/contract/api';
import { AccountLimits } from '../billing/account-limits';
import { paginate } from '../http/paging';
import { Route, type RouteInput } from '../http/route';
import { ModelCatalog } from './model-catalog';
import { ToolCatalog } from './tool-catalog';

@Controller()
export class CatalogController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly toolCatalog: ToolCatalog,
    private readonly limits: AccountLimits,
  ) {}

  @Route(routes.listModels)
  async listModels({ address, query }: RouteInput<typeof routes.listModels>) {
    const models = this.catalog.listFor(await this.limits.toTerms(address.accountId));
    const providers = this.catalog.providers.providers.map(({ name }) => name);
    return { ...paginate(models, query, ({ id }) => id), providers };
  }

  @Route(routes.listTools)
  listTools({ query }: RouteInput<typeof routes.listTools>) {
    return paginate(this.toolCatalog.list(), query, ({ name }) => name);
  }
}
