import type { ProviderProfile } from './provider-profile';

/** Also Azure. */
export const openai: ProviderProfile = {
  family: 'openai',
  names: /^(?:openai|azure)/,
  hosts: /(?:^|\.)openai\.com$|(?:^|\.)azure\.com$/,
  documents: 'file',
};
