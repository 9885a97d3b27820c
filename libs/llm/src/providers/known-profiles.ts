import type { ProviderProfile } from './provider-profile';

/** Passes the opaque parts of any maker on as `reasoning_details`, and wants them back as they were. */
const openrouter: ProviderProfile = {
  family: 'openrouter',
  names: /openrouter/,
  hosts: /(?:^|\.)openrouter\.ai$/,
  reasoning: 'details',
  documents: 'file',
};

/** Demands the reasoning of every call of a thread, even an empty one. Its first reasoning model refuses any: `deepseekR1`. */
const deepseek: ProviderProfile = {
  family: 'deepseek',
  names: /deepseek/,
  hosts: /(?:^|\.)deepseek\.com$/,
  models: /^(?:deepseek-ai\/)?deepseek-(?:v[4-9]|chat)/i,
  except: /deepseek-(?:reasoner|r1)/i,
  reasoning: 'always',
  textOnly: true,
  whyNoDocuments: 'its API takes text only',
};

const deepseekR1: ProviderProfile = {
  family: 'deepseek',
  names: /deepseek-r1/,
  models: /deepseek-(?:reasoner|r1)/i,
  reasoning: 'none',
  textOnly: true,
  whyNoDocuments: 'its API takes text only',
};

/** Demands the reasoning of every call of a thread, even an empty one. */
const kimi: ProviderProfile = {
  family: 'kimi',
  names: /kimi|moonshot/,
  hosts: /(?:^|\.)moonshot\.(?:ai|cn)$|(?:^|\.)kimi\.com$/,
  models: /^(?:moonshotai\/)?kimi-/i,
  reasoning: 'always',
  whyNoDocuments: 'its files are uploaded by another API',
};

/** GLM. Its interleaved thinking goes on where the reasoning of earlier calls is sent. */
const zai: ProviderProfile = {
  family: 'zai',
  names: /^(?:zai|z-ai|zhipu|glm)/,
  hosts: /(?:^|\.)z\.ai$|(?:^|\.)bigmodel\.cn$/,
  models: /^(?:zai-org\/)?glm-/i,
  reasoning: 'always',
  whyNoDocuments: 'its API has a block of its own for addresses of files',
};

const qwen: ProviderProfile = {
  family: 'qwen',
  names: /dashscope|qwen|alibaba/,
  hosts: /(?:^|\.)aliyuncs\.com$/,
  whyNoDocuments: 'its files are uploaded by another API',
};

/** Signs each call, demands the signature back, and knows no references, lists of types or constants in schemas. */
const gemini: ProviderProfile = {
  family: 'gemini',
  names: /gemini|google/,
  hosts: /(?:^|\.)googleapis\.com$/,
  models: /^gemini-/i,
  reasoning: 'signatures',
  plainSchemas: true,
  efforts: ['none', 'low', 'medium', 'high'],
  thoughtsOnlyInTotal: true,
  documents: 'image',
};

/** Refuses unknown fields of messages, and a user right after a tool; so do its models on other servers. */
const mistral: ProviderProfile = {
  family: 'mistral',
  names: /mistral/,
  hosts: /(?:^|\.)mistral\.ai$/,
  models: /(?:^|\/)(?:mistral|magistral|devstral|ministral|codestral|pixtral)-/i,
  reasoning: 'none',
  noUserAfterTool: true,
  whyNoDocuments: 'its API has a block of its own for documents',
};

/** Refuses unknown fields of messages; `reasoning`, in which it sends its own, is known. */
const groq: ProviderProfile = {
  family: 'groq',
  names: /groq/,
  hosts: /(?:^|\.)groq\.com$/,
  efforts: ['none', 'low', 'medium', 'high'],
  whyNoDocuments: 'its API takes text and images',
};

/** Counts reasoning beside the reply, which is read wherever totals say so. */
const xai: ProviderProfile = {
  family: 'xai',
  names: /^x-?ai|grok/,
  hosts: /(?:^|\.)x\.ai$/,
  models: /^grok-/i,
  efforts: ['low', 'medium', 'high'],
  whyNoDocuments: 'its files are uploaded by another API',
};

/** Also Azure. */
const openai: ProviderProfile = {
  family: 'openai',
  names: /^(?:openai|azure)/,
  hosts: /(?:^|\.)openai\.com$|(?:^|\.)azure\.com$/,
  documents: 'file',
};

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

/** All profiles. Where several match, the first one counts; what a provider is called says more than the name of a model. */
export const profilesOfProviders: readonly ProviderProfile[] = [
  ...[openrouter, deepseekR1, deepseek, kimi, zai, qwen, gemini, mistral, groq, xai, openai],
  ...localServers,
];
