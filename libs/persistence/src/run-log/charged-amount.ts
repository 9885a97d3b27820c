/**
 * What an account pays for a model call, as SQL; null if its cost is not known. Rounded as balances are stored, so that they
 * equal the sum of the entries. Entries of versions without factors have none.
 */
export const chargeAmount = (costUsd: string, priceFactor: string): string =>
  `round(${costUsd}::numeric * coalesce(${priceFactor}, 1), 12)`;
