import {
  type ListedModel,
  type ModelAliases,
  type ModelFallbacks,
  type ModelProviders,
  listModels,
} from '@rondo/domain';

type OfferedModel = ListedModel & { readonly default: boolean; readonly aliases: string[] };

export interface ModelNames {
  readonly defaultModel: string;
  readonly aliases: ModelAliases;
  readonly fallbacks: ModelFallbacks;
}

/** The models of this deployment. */
export class ModelCatalog {
  constructor(
    readonly providers: ModelProviders,
    readonly names: ModelNames,
  ) {}

  /** With the prices of this moment. */
  get models(): readonly OfferedModel[] {
    const { aliases, defaultModel } = this.names;
    return listModels(this.providers, Date.now()).map((model) => ({
      ...model,
      default: model.id === defaultModel,
      aliases: [...aliases].filter(([, id]) => id === model.id).map(([alias]) => alias),
    }));
  }
}
