import type { Scale } from './stage/stage';

export const scales: Record<Scale['name'], Scale> = {
  full: { name: 'full', leases: 'production', leaseMs: 15_000, heartbeatMs: 4_000, quietMs: 120_000 },
  small: { name: 'small', leases: 'short', leaseMs: 3_000, heartbeatMs: 800, quietMs: 60_000 },
};
