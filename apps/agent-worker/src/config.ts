import { readProviders } from '@rondo/domain';
import { loadConfig } from '@rondo/platform';
import type { z } from 'zod';
import { environment } from './environment';

export type Config = z.infer<typeof environment>;

export const readConfig = (): Config => loadConfig(environment);

/** The configured model providers: DEMO_MODEL_URL, OPENAI_*, ANTHROPIC_*, MODEL_PROVIDERS and the keys that it names. */
export const readModelProviders = () => readProviders(process.env);
