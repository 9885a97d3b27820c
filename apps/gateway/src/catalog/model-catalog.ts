import type { ModelPrice, ProfileName } from '@rondo/contract';
import {
  type ListedModel,
  type ModelAliases,
  type ModelFallbacks,
  type ModelProviders,
  chargePrice,
  listModels,
  profiles,
} from '@rondo/domain';
import type { ModelTerms } from '../billing/account-limits';
import { type GatewayConfig, toModelNames, toModelProviders } from '../config';

/** A model as the API lists it to an account. */
export interface OfferedModel extends ListedModel {
  readonly default: boolean;
  readonly aliases: readonly string[];
  readonly allowed: boolean;
  readonly charged_price: ModelPrice | null;
  readonly default_in: readonly ProfileName[];
}

interface ModelNames {
  readonly defaultModel: string;
  readonly aliases: ModelAliases;
  readonly fallbacks: ModelFallbacks;
}

const profileNames = Object.keys(profiles) as ProfileName[]; // the keys of a Record of them

/** The models of this deployment. */
export class ModelCatalog {
  constructor(
    readonly providers: ModelProviders,
    readonly names: ModelNames,
  ) {}

  /** With the prices of this moment. No profile has a model of its own, so the default is that of each. */
  listFor({ allows, priceFactor }: ModelTerms): readonly OfferedModel[] {
    const { aliases, defaultModel } = this.names;
    return listModels(this.providers, Date.now()).map((model) => {
      const isDefault = model.id === defaultModel;
      return {
        ...model,
        default: isDefault,
        aliases: [...aliases].filter(([, id]) => id === model.id).map(([alias]) => alias),
        allowed: allows(model.id),
        charged_price: model.price && chargePrice(model.price, priceFactor),
        default_in: isDefault ? profileNames : [],
      };
    });
  }
}

export function toModelCatalog(config: GatewayConfig): ModelCatalog {
  const providers = toModelProviders(config);
  return new ModelCatalog(providers, toModelNames(config, providers));
}
