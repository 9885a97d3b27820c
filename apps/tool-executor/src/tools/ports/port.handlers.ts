import { failedResult } from '@rondo/contract';
import { SandboxError } from '../../sandboxes';
import { type InputOf, type ToolHandler, succeeded } from '../tool-handler';

export const exposePort: ToolHandler<InputOf<'expose_port'>> = {
  handle: async ({ port }, { sandbox, previewUrl }) => {
    const url = previewUrl(port);
    if (url === undefined) return failedResult('Ports cannot be exposed here: the operator has set no PREVIEW_URL.');
    try {
      const connection = await sandbox.connect(port);
      connection.destroy();
    } catch (error) {
      if (!(error instanceof SandboxError) || error.code !== 'not_listening') throw error;
      return failedResult(`Nothing listens on port ${port} of the sandbox. Start the server first, in the background.`);
    }
    const message = `Port ${port} can be reached at this URL as long as the server runs. Everyone who has the URL can use it.`;
    return succeeded(JSON.stringify({ url, port, message }, null, 2));
  },
};
