import { createHash } from 'node:crypto';
import type { McpServer } from '@rondo/contract';

/** Names a server by where it is. A hash, since an address may contain what a list of tools must not show. */
export const serverHash = (server: McpServer): string =>
  createHash('sha256')
    .update(JSON.stringify(server.transport === 'stdio' ? ['stdio', server.command] : ['remote', server.url]))
    .digest('hex');
