import { z } from 'zod';
import { declaredTiers } from '../accounts/account-tiers';
import { declaredPrices } from './declared-prices';
import { declaredFallbacks } from './fallbacks';
import { declaredAliases } from './model-aliases';
import { declaredProviders } from './provider-settings';

/** The settings that are JSON, by their variables. */
const jsonSettings = {
  MODEL_PROVIDERS: declaredProviders,
  MODEL_PRICES: declaredPrices,
  MODEL_ALIASES: declaredAliases,
  MODEL_FALLBACKS: declaredFallbacks,
  ACCOUNT_TIERS: declaredTiers,
};

type JsonSetting = keyof typeof jsonSettings;

/** Of the environment of a service: names each of these settings that cannot be understood, whatever else is wrong. */
export const jsonSettingsAreReadable = z.superRefine<{ readonly [Name in JsonSetting]?: string | undefined }>(
  (variables, context) => {
    for (const [name, schema] of Object.entries(jsonSettings) as [JsonSetting, z.ZodType][]) {
      const text = variables[name];
      if (!text) continue;
      const issues = schema.safeParse(text).error?.issues ?? [];
      for (const { path, message } of issues) {
        context.addIssue({ code: 'custom', path: [name, ...path], message, input: undefined });
      }
    }
  },
  { when: () => true },
);
