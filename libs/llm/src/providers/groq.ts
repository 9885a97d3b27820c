import type { ProviderProfile } from './provider-profile';

/** Refuses unknown fields of messages; `reasoning`, in which it sends its own, is known. */
export const groq: ProviderProfile = {
  family: 'groq',
  names: /groq/,
  hosts: /(?:^|\.)groq\.com$/,
  efforts: ['none', 'low', 'medium', 'high'],
  whyNoDocuments: 'its API takes text and images',
};
