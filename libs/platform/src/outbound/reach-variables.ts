import { z } from 'zod';
import { commaSeparated } from '../service-variables';
import { network } from './address-policy';
import { internalHost } from './internal-host';

/** What commands and MCP servers reach, and where a gateway asks for tokens for these servers. */
export const reachVariables = {
  SANDBOX_INTERNAL_HOSTS: commaSeparated.pipe(z.array(internalHost)).optional().meta({
    description:
      'What commands may also reach although its address is private, and which MCP servers and authorization servers: `host:port`, separated by commas.',
    example: 'git.internal:3000',
    otherwise: 'none',
  }),
  SANDBOX_DENIED_NETWORKS: commaSeparated.pipe(z.array(network)).optional().meta({
    description:
      'Public networks that commands may not reach, separated by commas; for example those of services that trust this host.',
    example: '203.0.113.0/24,2001:db8::/32',
    otherwise: 'none',
  }),
};
