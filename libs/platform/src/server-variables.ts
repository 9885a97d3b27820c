import { z } from 'zod';
import { count } from './service-variables';

/** The client library accepts no other scheme. The parameters are named as those of Postgres. */
const natsUrl = z
  .string()
  .regex(
    /^(nats|tls):\/\/([^@:/\s]+(:[^@/\s]+)?@)?[^@/?\s]+\/?(\?(ssl(rootcert|cert|key)=[^&\s]+(&(?=.)|$))+)?$/,
    'must be nats://name:password@host:port, or tls://…, with or without a name and a password, more hosts after commas, and ?sslrootcert=…&sslcert=…&sslkey=…',
  );

export const natsVariables = {
  NATS_URL: natsUrl.meta({
    description:
      'NATS, with this service’s own name and password ([operations](operations.md#credentials)); several hosts of a cluster are separated by commas. `tls://` insists on TLS, `nats://` uses it if the server offers it. Certificates: [operations](operations.md#nats-in-a-cluster-and-with-tls).',
    example: 'nats://gateway:password@127.0.0.1:4222',
  }),
};

/** Variables of services that use Postgres, Redis and NATS. */
export const serverVariables = (poolSize: number) => ({
  DATABASE_URL: z
    .string()
    .meta({ description: 'Postgres.', example: 'postgresql://rondo:password@127.0.0.1:5432/rondo' }),
  DATABASE_POOL_SIZE: count.default(poolSize).describe('The largest number of connections to Postgres.'),
  REDIS_URL: z.string().meta({
    description:
      'Redis; `rediss://` uses TLS, `redis+sentinel://` asks sentinels for the server ([operations](operations.md#redis-with-sentinels-and-tls)).',
    example: 'redis://127.0.0.1:6379',
  }),
  ...natsVariables,
});
