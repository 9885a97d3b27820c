import type { Scale } from './test-bed/test-bed';

export const scales: Record<Scale['name'], Scale> = {
  full: { name: 'full', leases: 'production', quietMs: 120_000 },
  small: { name: 'small', leases: 'short', quietMs: 60_000 },
};
