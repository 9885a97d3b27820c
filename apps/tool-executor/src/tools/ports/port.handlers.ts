import { toFailedResult } from '@rondo/contract';
import { SandboxError } from '../../sandboxes';
import { type ToolInput, type ToolContext, type ToolHandler, toSuccess } from '../tool-handler';

export const exposePort: ToolHandler<ToolInput<'expose_port'>> = {
  handle: async ({ port }, context) => {
    try {
      const exposed = await expose(port, context);
      if (exposed === undefined)
        return toFailedResult('Ports cannot be exposed here: the operator has set no PREVIEW_URL.');
      const { url, until } = exposed;
      const message = `Port ${port} can be reached at this URL ${until}. Everyone who has the URL can use it.`;
      return toSuccess(JSON.stringify({ url, port, message }, null, 2));
    } catch (error) {
      if (!(error instanceof SandboxError) || error.code !== 'not_listening') throw error;
      return toFailedResult(
        `Nothing listens on port ${port} of the sandbox. Start the server first, in the background.`,
      );
    }
  },
};

/** Undefined where previews are not configured. */
async function expose(port: number, { sandbox, previewUrl }: Pick<ToolContext, 'sandbox' | 'previewUrl'>) {
  if (sandbox.expose) {
    const { url, seconds } = await sandbox.expose(port);
    return { url, until: `as long as the server runs, for ${seconds / 3_600} hours at most` };
  }
  const url = previewUrl(port);
  if (url === undefined) return undefined;
  (await sandbox.connect(port)).destroy();
  return { url, until: 'as long as the server runs' };
}
