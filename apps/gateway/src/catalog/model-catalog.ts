import { type ListedModel, type ModelProviders, listModels } from '@rondo/domain';

/** The models of this deployment. */
export class ModelCatalog {
  readonly models: readonly (ListedModel & { readonly default: boolean })[];

  constructor(
    readonly providers: ModelProviders,
    readonly defaultModel: string,
  ) {
    this.models = listModels(providers).map((model) => ({ ...model, default: model.id === defaultModel }));
  }
}
