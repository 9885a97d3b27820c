/** What a deployment may inherit from us. Not the URLs of servers: it starts its own. */
const { PATH, HOME, BWRAP_PATH } = process.env;
export const inherited = { PATH, HOME, BWRAP_PATH };
