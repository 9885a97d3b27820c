import type { Scale } from './stage/stage';

export const scales: Record<Scale['name'], Scale> = {
  full: { name: 'full', leases: 'production', quietMs: 120_000 },
  small: { name: 'small', leases: 'short', quietMs: 60_000 },
};
