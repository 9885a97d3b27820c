import { port, serviceVariables } from '@rondo/platform';
import { z } from 'zod';

export const environment = z.object({
  HOST: serviceVariables.HOST,
  PORT: port.default(4010),
  DEMO_PACE_MS: z.coerce.number().int().min(0).max(60_000).default(0).meta({
    description: 'The pause between two pieces of a streamed reply whose script names none.',
    unit: 'ms',
  }),
});
