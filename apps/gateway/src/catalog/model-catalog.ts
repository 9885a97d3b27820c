import { type ListedModel, type ModelProviders, listModels } from '@rondo/domain';

type OfferedModel = ListedModel & { readonly default: boolean };

/** The models of this deployment. */
export class ModelCatalog {
  constructor(
    readonly providers: ModelProviders,
    readonly defaultModel: string,
  ) {}

  /** With the prices of this moment. */
  get models(): readonly OfferedModel[] {
    return listModels(this.providers, Date.now()).map((model) => ({
      ...model,
      default: model.id === this.defaultModel,
    }));
  }
}
