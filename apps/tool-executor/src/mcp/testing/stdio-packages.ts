import { buildSync } from 'esbuild';

/**
 * Servers over standard streams, each written with the package that is published for its generation, as one program: a sandbox has
 * no packages.
 */
const programs = {
  '2025': `
    import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
    import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
    import { z } from 'zod';
    const server = new McpServer({ name: 'packaged', version: '1' });
    server.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({ content: [{ type: 'text', text: 'echo: ' + text }] }));
    server.connect(new StdioServerTransport());`,
  '2026': `
    import { McpServer } from '@modelcontextprotocol/server';
    import { serveStdio } from '@modelcontextprotocol/server/stdio';
    import { z } from 'zod';
    serveStdio(() => {
      const server = new McpServer({ name: 'packaged', version: '1' });
      server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({ content: [{ type: 'text', text: 'echo: ' + text }] }));
      server.registerResource('a', 'notes://a', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'A note.' }] }));
      return server;
    }, { legacy: 'reject' });`,
};

export const packagedServer = (generation: keyof typeof programs): string =>
  buildSync({
    stdin: { contents: programs[generation], resolveDir: __dirname, loader: 'js' },
    ...{ bundle: true, platform: 'node', format: 'cjs', write: false, minify: true, logLevel: 'error' },
  }).outputFiles[0]?.text ?? '';
