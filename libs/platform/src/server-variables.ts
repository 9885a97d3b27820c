import { z } from 'zod';
import { count } from './service-variables';

/** The client library accepts no other scheme. */
const natsUrl = z
  .string()
  .regex(
    /^(nats|tls):\/\/([^@:/\s]+(:[^@/\s]+)?@)?[^@/\s]+\/?$/,
    'must be nats://name:password@host:port, or tls://…, with or without a name and a password',
  );

export const natsVariables = {
  NATS_URL: natsUrl.meta({
    description:
      'NATS, with this service’s own name and password ([operations](operations.md#credentials)). TLS is used if the server offers it, whatever the scheme.',
    example: 'nats://gateway:password@127.0.0.1:4222',
  }),
};

/** Variables of services that use Postgres, Redis and NATS. */
export const serverVariables = (poolSize: number) => ({
  DATABASE_URL: z
    .string()
    .meta({ description: 'Postgres.', example: 'postgresql://rondo:password@127.0.0.1:5432/rondo' }),
  DATABASE_POOL_SIZE: count.default(poolSize).describe('The largest number of connections to Postgres.'),
  REDIS_URL: z.string().meta({ description: 'Redis; `rediss://` uses TLS.', example: 'redis://127.0.0.1:6379' }),
  ...natsVariables,
});
