import { hostname } from 'node:os';
import { z } from 'zod';
import { milliseconds } from './service-variables';

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
