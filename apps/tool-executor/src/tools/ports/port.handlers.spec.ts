import { DaytonaFixture } from '../../sandboxes/daytona/testing/daytona-fixture';
import { newThreadId } from '../../sandboxes/testing/sandbox-provider-fixture';
import { readUntil } from '../../sandboxes/testing/run-command';
import type { ToolContext } from '../tool-handler';
import { exposePort } from './port.handlers';

const server = `node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => console.log('port', s.address().port, 'ready'))"`;

describe('expose_port at Daytona', () => {
  it('gives the URL of the service for a server that listens, and for no other', async () => {
    const fixture = await DaytonaFixture.open();
    const sandbox = await fixture.provider.get(newThreadId());
    const context = { sandbox, previewUrl: () => undefined } as Partial<ToolContext> as ToolContext; // it reads nothing else
    await sandbox.start({ id: 'server', session: 'server', command: server });
    const { output } = await readUntil(sandbox, 'server', { text: 'ready' });
    const port = Number(/\d+/.exec(output)?.[0]);

    await expect(exposePort.handle({ port }, context)).resolves.toMatchObject({
      success: true,
      output: expect.stringContaining(`https://${port}-for86400s.preview.example`),
    });
    await sandbox.terminate('server');
    await expect(exposePort.handle({ port }, context)).resolves.toMatchObject({
      success: false,
      error: expect.stringContaining(`Nothing listens on port ${port}`),
    });
    await fixture.close();
  });
});
