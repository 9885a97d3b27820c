import { z } from 'zod';
import { accountSettings } from '../run-settings';
import { type ApiSchemas, defineRoutes } from './route';

const exampleSettings = {
  profile: 'ii',
  model: 'openai/gpt-5',
  tools: { shell: false },
  limits: { max_iterations: 50 },
};

const newSettings = z.strictObject({ settings: accountSettings });

const storedSettings = z
  .object({
    settings: accountSettings,
    updated_at: z.iso.datetime().nullable().describe('Null: none were ever stored.'),
  })
  .meta({ examples: [{ settings: exampleSettings, updated_at: '2026-11-25T09:00:00.000Z' }] });

/** Answers are not parsed: an earlier release may have stored what this one would refuse. */
export const settings = defineRoutes('settings', {
  getSettings: {
    method: 'GET',
    path: '/v1/settings',
    summary: 'Get the settings that the account keeps for its runs',
    answers: { 200: { body: storedSettings, isParsed: false } },
  },
  setSettings: {
    method: 'PUT',
    path: '/v1/settings',
    summary: 'Set the settings that the account keeps for its runs',
    description:
      'They replace those that were kept, `{}` removes them. A new run takes them where neither it nor its agent says otherwise.',
    audit: 'settings.set',
    body: newSettings,
    answers: { 200: { body: storedSettings, isParsed: false } },
  },
});

export const settingsSchemas: ApiSchemas = {
  requests: { NewAccountSettings: newSettings },
  answers: { StoredAccountSettings: storedSettings },
  examples: { NewAccountSettings: { settings: exampleSettings } },
};
