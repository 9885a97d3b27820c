import { readProviders } from '@rondo/domain';
import { loadConfig } from '@rondo/platform';
import { environment } from './environment';

export const config = loadConfig(environment);
/** Who can be asked for models: DEMO_MODEL_URL, OPENAI_*, ANTHROPIC_*, MODEL_PROVIDERS and the keys that it names. */
export const modelProviders = readProviders(process.env);
