import type { AccountId } from './ids';

/** Binds a sealed header to its account, to the origin of its server and to its name, so that it opens for no other. */
export const mcpHeaderPurpose = (account: AccountId, url: string, header: string): string =>
  `mcp header\n${account}\n${new URL(url).origin}\n${header}`;
