import { z } from 'zod';
import { defineTool } from './define-tool';

const name = z.string().min(1).max(64).describe('The name of the site. To deploy under it again replaces the site.');

/** Published twice, the same folder is the same site at the same URL. */
export const deploy = defineTool({
  name: 'deploy',
  description:
    'Publish a folder of static files (HTML, scripts, styles, images) and get a URL under which people can open it. The files ' +
    'are copied: later changes appear when the folder is deployed again, and the site stays when the sandbox stops. Symbolic ' +
    'links are refused; node_modules and names that begin with a dot are left out. For a server that runs, use expose_port.',
  input: z.strictObject({
    name: name.optional().describe('The name of the site, by default that of the folder. Its URL stays the same.'),
    directory_path: z.string().min(1).describe('The folder, or a single file, relative to /workspace.'),
  }),
  effect: 'idempotent',
  runsIn: 'executor',
  timeoutMs: 300_000,
  group: 'web',
  needs: 'sites',
  example: { name: 'my-site', directory_path: 'dist' },
});

export const undeploy = defineTool({
  name: 'undeploy',
  description: 'Take down a site that was published with deploy. Its files in /workspace stay.',
  input: z.strictObject({ name }),
  effect: 'idempotent',
  runsIn: 'executor',
  timeoutMs: 30_000,
  group: 'web',
  needs: 'sites',
  example: { name: 'my-site' },
  xml: { content: 'name' },
});

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
