import type { ProviderProfile } from './provider-profile';

/** Counts reasoning beside the reply, which is read wherever totals say so. */
export const xai: ProviderProfile = {
  family: 'xai',
  names: /^x-?ai|grok/,
  hosts: /(?:^|\.)x\.ai$/,
  models: /^grok-/i,
  efforts: ['low', 'medium', 'high'],
  whyNoDocuments: 'its files are uploaded by another API',
};
