import { type GatewayConfig, modelNamesOf, modelProvidersOf } from '../config';
import { ModelCatalog } from './model-catalog';

export function modelCatalogOf(config: GatewayConfig): ModelCatalog {
  const providers = modelProvidersOf(config);
  return new ModelCatalog(providers, modelNamesOf(config, providers));
}
