/** The variables that a test deployment inherits. Not the URLs of servers, since it starts its own. */
const { PATH, HOME, BWRAP_PATH, BROWSER_PATH } = process.env;
export const inherited = { PATH, HOME, BWRAP_PATH, BROWSER_PATH };
