import { loadConfig, port, serviceVariables } from '@rondo/platform';
import { z } from 'zod';

export const environment = z.object({
  HOST: serviceVariables.HOST,
  PORT: port.default(4010),
  DEMO_PACE_MS: z.coerce.number().int().min(0).max(60_000).default(0).meta({
    description: 'The pause between two pieces of a streamed reply whose script names none.',
    unit: 'ms',
  }),
  DEMO_CONTENT_OPTIONAL: z.stringbool().prefault('0').meta({
    description: '`1` accepts calls without the key `content`, as OpenAI does. Version 0.1 of Rondo sends them.',
  }),
});

export const readConfig = () => loadConfig(environment);
