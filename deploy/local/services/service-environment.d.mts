import type { ServiceName } from './services.mjs';

export const serviceNames: readonly ServiceName[];

/**
 * The complete environment of a service: of `inherited`, the variables that it declares or its runtime reads, and its part of
 * `facts`.
 */
export function serviceEnvironment(
  service: ServiceName,
  given: {
    inherited: Readonly<Record<string, string | undefined>>;
    facts: Readonly<Record<string, string | undefined>>;
  },
): Record<string, string>;
