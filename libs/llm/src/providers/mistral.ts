import type { ProviderProfile } from './provider-profile';

/** Refuses unknown fields of messages, and a user right after a tool; so do its models on other servers. */
export const mistral: ProviderProfile = {
  family: 'mistral',
  names: /mistral/,
  hosts: /(?:^|\.)mistral\.ai$/,
  models: /(?:^|\/)(?:mistral|magistral|devstral|ministral|codestral|pixtral)-/i,
  reasoning: 'none',
  noUserAfterTool: true,
  whyNoDocuments: 'its API has a block of its own for documents',
};
