import { z } from 'zod';

/** A count of at least one. */
export const count = z.coerce.number().int().positive();
/** A list, separated by commas. */
export const commaSeparated = z.string().transform((text) => text.split(',').map((entry) => entry.trim()));
export const milliseconds = count.meta({ unit: 'ms' });
export const port = z.coerce
  .number()
  .int()
  .min(0)
  .max(65_535)
  .describe('The port on which it listens; with 0 the system chooses a free one.');

/**
 * Variables of every service. `npm run docs` generates docs/configuration.md and .env.example from the descriptions: `unit`
 * is the unit of a number, `example` a sample value, and `otherwise` describes a default that is not a value.
 */
export const serviceVariables = {
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('The address on which it listens. `0.0.0.0` is every IPv4 address of the machine.'),
  PORT: port,
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('The lowest level that is logged.'),
  METRICS_TOKEN: z.string().optional().meta({
    description: 'The token that `/metrics` requires: `Authorization: Bearer …`.',
    otherwise: 'open to this machine if HOST is a loopback address, otherwise closed',
  }),
  METRICS_OPEN: z.stringbool().prefault('0').meta({
    description: '`1` opens `/metrics` to every client without a token, whatever HOST is.',
  }),
};
