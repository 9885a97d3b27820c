import type { ProviderProfile } from './provider-profile';

/** GLM. Its interleaved thinking goes on where the reasoning of earlier calls is sent. */
export const zai: ProviderProfile = {
  family: 'zai',
  names: /^(?:zai|z-ai|zhipu|glm)/,
  hosts: /(?:^|\.)z\.ai$|(?:^|\.)bigmodel\.cn$/,
  models: /^(?:zai-org\/)?glm-/i,
  reasoning: 'always',
  whyNoDocuments: 'its API has a block of its own for addresses of files',
};
