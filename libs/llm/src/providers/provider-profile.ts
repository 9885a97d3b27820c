import type { ProfileRules } from '@rondo/domain';

/** In what a server differs from what most accept. */
export interface ProviderProfile extends ProfileRules {
  /** The maker, as what it gives names it: two providers with the same one accept each other's. */
  readonly family: string;
  /** Names of providers, hosts of base URLs, and models that it is for. A provider may have any name. */
  readonly names: RegExp;
  readonly hosts?: RegExp;
  readonly models?: RegExp;
  /** Models of such a provider that it is not for. */
  readonly except?: RegExp;
}
