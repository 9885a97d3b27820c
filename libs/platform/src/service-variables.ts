import { hostname } from 'node:os';
import { z } from 'zod';
import { network } from './outbound/address-policy';
import { internalHost } from './outbound/target';

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

/** The clients of Redis and NATS throw at a `%` of a password that is not encoded, in words that name no variable. */
function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

const encoded = 'must have a % of a user or password as %25';

/** The driver takes every other word for the name of a database on a host called `base`. A path is that of a socket. */
const postgresUrl = z
  .string()
  .regex(/^(postgres(ql)?:\/\/|socket:|\/)/, 'must be postgresql://user:password@host:port/database');

const redisUrl = z
  .string()
  .regex(
    /^(rediss?(\+sentinel)?:\/\/|\/)/,
    'must begin with redis://, rediss://, redis+sentinel:// or rediss+sentinel://',
  )
  .refine(isDecodable, encoded);

/** The client library accepts no other scheme. The parameters are named as those of Postgres. */
const natsUrl = z
  .string()
  .regex(
    /^(nats|tls):\/\/([^@:/\s]+(:[^@/\s]+)?@)?[^@/?\s]+\/?(\?(ssl(rootcert|cert|key)=[^&\s]+(&(?=.)|$))+)?$/,
    'must be nats://name:password@host:port, or tls://…, with or without a name and a password, more hosts after commas, and ?sslrootcert=…&sslcert=…&sslkey=…',
  )
  .refine(isDecodable, encoded);

export const natsVariables = {
  NATS_URL: natsUrl.meta({
    description:
      'NATS, with this service’s own name and password ([operations](operations.md#credentials)); several hosts of a cluster are separated by commas. `tls://` insists on TLS, `nats://` uses it if the server offers it. Certificates: [operations](operations.md#nats-in-a-cluster-and-with-tls).',
    example: 'nats://gateway:password@127.0.0.1:4222',
  }),
};

/** Variables of services that use Postgres, Redis and NATS. */
export const serverVariables = (poolSize: number) => ({
  DATABASE_URL: postgresUrl.meta({
    description: 'Postgres.',
    example: 'postgresql://rondo:password@127.0.0.1:5432/rondo',
  }),
  DATABASE_POOL_SIZE: count.default(poolSize).describe('The largest number of connections to Postgres.'),
  REDIS_URL: redisUrl.meta({
    description:
      'Redis; `rediss://` uses TLS, `redis+sentinel://` asks sentinels for the server ([operations](operations.md#redis-with-sentinels-and-tls)).',
    example: 'redis://127.0.0.1:6379',
  }),
  ...natsVariables,
});

/** Variables of services that hold leases on runs. */
export const leaseVariables = {
  LEASE_MS: milliseconds
    .default(15_000)
    .describe(
      'How long a holder keeps a run without renewing its lease, if its death is not detected by its connection to ' +
        'Postgres. At least twice HEARTBEAT_MS.',
    ),
  HEARTBEAT_MS: milliseconds
    .default(4_000)
    .describe('How often a holder renews its leases and looks for stops whose signal was lost.'),
};

/** A lease that ends before its renewal would make each run be claimed again while its holder still works on it. */
export const leasesOutliveHeartbeats = z.refine<{ LEASE_MS: number; HEARTBEAT_MS: number }>(
  ({ LEASE_MS, HEARTBEAT_MS }) => LEASE_MS >= 2 * HEARTBEAT_MS,
  { path: ['LEASE_MS'], error: 'must be at least twice HEARTBEAT_MS' },
);

/**
 * The name under which a process holds its leases. The configuration gives a prefix; the process id and the time of the
 * start make it unique, so that a restarted process is never mistaken for its dead predecessor.
 */
export const holderName = (role: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'letters, digits, dash and underscore only, 64 at most')
    .default(() => `${role}${thisHost()}`)
    .transform((name) => `${name}-${process.pid}-${Date.now().toString(36)}`)
    .meta({
      description: 'The prefix of the name under which it holds runs; letters, digits, dashes and underscores.',
      otherwise: `${role && `\`${role}\` and `}the host’s name`,
    });

const thisHost = (): string =>
  hostname()
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .slice(0, 40);

/** Of the services that ask executors which tools an MCP server has. NATS lets executors answer for 315 s. */
export const mcpVariables = {
  MCP_START_S: z.coerce.number().int().min(15).max(300).default(60).meta({
    description:
      'How long an MCP server that is a `command` may take to start, and again to list its tools: `npx` may install it first. Then the run goes on without it. See docs/mcp.md.',
    unit: 's',
  }),
};

/** Of the gateway, which serves previews, and of executors, which make their URLs. */
export const previewUrl = z
  .string()
  .regex(/^https?:\/\/\*\.[a-z0-9.-]+(:\d+)?$/i, 'must be like https://*.preview.example.org')
  .optional()
  .meta({
    description:
      'Where servers in sandboxes are published by `expose_port`: a URL of the gateway whose `*` stands for one preview. Its ' +
      'host must be no site that people trust, since pages of agents are shown there; it needs DNS and a certificate for all ' +
      'of its subdomains. `npm start` uses `http://*.localhost:PORT`, which browsers look for on their own machine.',
    example: 'https://*.preview.example.org',
    otherwise: 'ports cannot be exposed',
  });

/** What commands and MCP servers reach, and where a gateway asks for tokens for these servers. */
export const reachVariables = {
  SANDBOX_INTERNAL_HOSTS: commaSeparated.pipe(z.array(internalHost)).optional().meta({
    description:
      'What commands may also reach although its address is private, and which MCP servers and authorization servers: `host:port`, separated by commas.',
    example: 'git.internal:3000',
    otherwise: 'none',
  }),
  SANDBOX_DENIED_NETWORKS: commaSeparated.pipe(z.array(network)).optional().meta({
    description:
      'Public networks that commands may not reach, separated by commas; for example those of services that trust this host.',
    example: '203.0.113.0/24,2001:db8::/32',
    otherwise: 'none',
  }),
};
