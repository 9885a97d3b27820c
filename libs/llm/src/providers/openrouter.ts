import type { ProviderProfile } from './provider-profile';

/** Passes the opaque parts of any maker on as `reasoning_details`, and wants them back as they were. */
export const openrouter: ProviderProfile = {
  family: 'openrouter',
  names: /openrouter/,
  hosts: /(?:^|\.)openrouter\.ai$/,
  reasoning: 'details',
  documents: 'file',
};
