import type { ProviderProfile } from './provider-profile';

/** Signs each call, demands the signature back, and knows no references, lists of types or constants in schemas. */
export const gemini: ProviderProfile = {
  family: 'gemini',
  names: /gemini|google/,
  hosts: /(?:^|\.)googleapis\.com$/,
  models: /^gemini-/i,
  reasoning: 'signatures',
  plainSchemas: true,
  efforts: ['none', 'low', 'medium', 'high'],
  documents: 'image',
};
