import type { ProviderProfile } from './provider-profile';

/** Demands the reasoning of every call of a thread, even an empty one. Its first reasoning model refuses any: `deepseekR1`. */
export const deepseek: ProviderProfile = {
  family: 'deepseek',
  names: /deepseek/,
  hosts: /(?:^|\.)deepseek\.com$/,
  models: /^(?:deepseek-ai\/)?deepseek-(?:v[4-9]|chat)/i,
  except: /deepseek-(?:reasoner|r1)/i,
  reasoning: 'always',
  textOnly: true,
  whyNoDocuments: 'its API takes text only',
};

export const deepseekR1: ProviderProfile = {
  family: 'deepseek',
  names: /deepseek-r1/,
  models: /deepseek-(?:reasoner|r1)/i,
  reasoning: 'none',
  textOnly: true,
  whyNoDocuments: 'its API takes text only',
};
