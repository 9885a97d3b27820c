import { type GatewayConfig, toModelNames, toModelProviders } from '../config';
import { ModelCatalog } from './model-catalog';

export function toModelCatalog(config: GatewayConfig): ModelCatalog {
  const providers = toModelProviders(config);
  return new ModelCatalog(providers, toModelNames(config, providers));
}
