import type { ProviderProfile } from './provider-profile';

/** Servers of one's own, and those that host open models: the templates of the models decide, and know the field they came in. */
export const localServers: readonly ProviderProfile[] = [
  { family: 'vllm', names: /vllm|sglang/ },
  { family: 'llamacpp', names: /llama-?cpp|llamafile/ },
  { family: 'ollama', names: /ollama/, hosts: /^ollama\.com$/ },
  { family: 'lmstudio', names: /lm-?studio/ },
  { family: 'litellm', names: /litellm/ },
  { family: 'together', names: /together/, hosts: /(?:^|\.)together\.(?:xyz|ai)$/ },
  { family: 'fireworks', names: /fireworks/, hosts: /(?:^|\.)fireworks\.ai$/ },
  { family: 'bedrock', names: /bedrock/, hosts: /(?:^|\.)amazonaws\.com$/ },
];
