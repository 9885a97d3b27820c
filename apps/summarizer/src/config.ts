import { modelName } from '@rondo/contract';
import { jsonSettingsAreReadable, readProviders } from '@rondo/domain';
import {
  accountVariables,
  count,
  holderName,
  leaseVariables,
  leasesOutliveHeartbeats,
  loadConfig,
  modelRetryVariables,
  modelVariables,
  proxyVariables,
  serverVariables,
  serviceVariables,
  tracingVariables,
} from '@rondo/platform';
import { z } from 'zod';

export const environment = z
  .object({
    ...serviceVariables,
    ...serverVariables(4),
    ...modelVariables,
    ...modelRetryVariables,
    ...proxyVariables,
    ...leaseVariables,
    ...accountVariables,
    ...tracingVariables,
    SUMMARIZER_ID: holderName('summarizer-'),
    SUMMARY_MODEL: modelName.optional().meta({
      description: 'The model that writes summaries, for runs that name none.',
      otherwise: 'the run’s own model',
      example: 'openai/gpt-5-mini',
    }),
    TITLE_MODEL: modelName.optional().meta({
      description: 'The model that writes the titles of projects.',
      otherwise: '`SUMMARY_MODEL`, or the model of the first run',
      example: 'openai/gpt-5-nano',
    }),
    COMPACTION_CONCURRENCY: count.default(16).describe('The number of summaries that are written at the same time.'),
  })
  .check(leasesOutliveHeartbeats, jsonSettingsAreReadable);
export type Config = z.infer<typeof environment>;

export const readConfig = (): Config => loadConfig(environment);

/** The configured model providers: DEMO_MODEL_URL, OPENAI_*, ANTHROPIC_*, MODEL_PROVIDERS and the keys that it names. */
export const readModelProviders = () => readProviders(process.env);
