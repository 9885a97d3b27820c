/** The variables that a test deployment inherits. Not the URLs of servers, since it starts its own. */
const { PATH, HOME, BWRAP_PATH, BROWSER_PATH } = process.env;
export const inherited = { PATH, HOME, BWRAP_PATH, BROWSER_PATH };

/** `npm test` says so. Benchmarks and the chaos campaign measure what an installation does. */
export const isDurable = process.env.TEST_FSYNC !== 'off';

/** A data directory with a migrated database, which `npm test` has made. */
export const preparedData = process.env.TEST_PREPARED_DATA;
