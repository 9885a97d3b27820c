import type { ProviderProfile } from './provider-profile';

/** Demands the reasoning of every call of a thread, even an empty one. */
export const kimi: ProviderProfile = {
  family: 'kimi',
  names: /kimi|moonshot/,
  hosts: /(?:^|\.)moonshot\.(?:ai|cn)$|(?:^|\.)kimi\.com$/,
  models: /^(?:moonshotai\/)?kimi-/i,
  reasoning: 'always',
  whyNoDocuments: 'its files are uploaded by another API',
};
