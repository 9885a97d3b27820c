import { z } from 'zod';
import { defineTool } from './define-tool';

export const exposePort = defineTool({
  name: 'expose_port',
  description:
    'Get a URL under which people can open a server that runs in the sandbox. The server must be listening already, on the ' +
    'loopback or on all addresses.',
  input: z.strictObject({ port: z.number().int().min(1).max(65_535) }),
  effect: 'idempotent',
  runsIn: 'executor',
  timeoutMs: 30_000,
  group: 'web',
  needs: 'previews',
  example: { port: 8080 },
  xml: { content: 'port' },
});
