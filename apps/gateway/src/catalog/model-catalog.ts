import { type ListedModel, type ModelAliases, type ModelProviders, listModels } from '@rondo/domain';

type OfferedModel = ListedModel & { readonly default: boolean; readonly aliases: string[] };

/** The models of this deployment. */
export class ModelCatalog {
  readonly defaultModel: string;
  readonly aliases: ModelAliases;

  constructor(
    readonly providers: ModelProviders,
    { defaultModel, aliases }: { defaultModel: string; aliases: ModelAliases },
  ) {
    this.defaultModel = defaultModel;
    this.aliases = aliases;
  }

  /** With the prices of this moment. */
  get models(): readonly OfferedModel[] {
    const names = [...this.aliases];
    return listModels(this.providers, Date.now()).map((model) => ({
      ...model,
      default: model.id === this.defaultModel,
      aliases: names.filter(([, id]) => id === model.id).map(([alias]) => alias),
    }));
  }
}
