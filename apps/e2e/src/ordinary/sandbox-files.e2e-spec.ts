import { createHash, randomBytes } from 'node:crypto';
import { type RondoClient, type RunningRondo, command, scriptInput } from '@rondo/test-deployment';
import { ordinaryDeployment } from '../shared-deployment';

interface SandboxView {
  readonly id: string;
  readonly state: string;
}

interface Call {
  readonly result: { readonly success: boolean; readonly output: string; readonly error?: string };
}

describe('the files of a sandbox over REST', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let thread: string;
  let sandbox: string;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = rondo.client();
    thread = (await client.json<{ id: string }>('POST', '/threads', {})).id;
    sandbox = (await client.json<SandboxView>('POST', `/threads/${thread}/sandbox`)).id;
  });

  const content = (path: string) => `/sandboxes/${sandbox}/files/content?path=${encodeURIComponent(path)}`;
  const files = (method: string, path: string, body?: string | Buffer) =>
    fetch(`${client.url}/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${client.key}` },
      ...(body !== undefined && { body }),
    });
  const state = async () => (await client.json<SandboxView>('GET', `/sandboxes/${sandbox}`)).state;

  async function readCalls(line: string): Promise<Call[]> {
    const turns = [{ calls: [command(line)] }, { text: 'Done.' }];
    const run = await client.createRun({ thread_id: thread, ...scriptInput(line, turns) });
    expect((await client.waitForRun(run.id)).status).toBe('completed');
    return (await client.json<{ data: Call[] }>('GET', `/runs/${run.id}/tool-calls`)).data;
  }
  const readOutput = async (line: string): Promise<string> =>
    (await readCalls(line)).map(({ result }) => result.output).join('');

  it('are there for the commands of a run, byte for byte, and come back', async () => {
    const bytes = randomBytes(20_000_000);
    const sha256 = createHash('sha256').update(bytes).digest('hex');

    const written = await files('PUT', content('in/data.bin'), bytes);
    expect([written.status, await written.json()]).toEqual([200, { path: 'in/data.bin', size: bytes.length }]);
    expect(
      await readOutput('sha256sum in/data.bin; tac in/data.bin > out.bin; sha256sum out.bin | cut -c1-64'),
    ).toContain(sha256);

    const read = await files('GET', content('in/data.bin'));
    expect(read.headers.get('content-length')).toBe(String(bytes.length));
    expect(Buffer.compare(Buffer.from(await read.arrayBuffer()), bytes)).toBe(0);
    const list = await client.json<{ data: { path: string }[] }>('GET', `/sandboxes/${sandbox}/files?depth=2`);
    expect(list.data.map(({ path }) => path).sort()).toEqual(['in', 'in/data.bin', 'out.bin']);
  });

  it('survive a stop, and are read again after it', async () => {
    await files('PUT', content('kept.txt'), 'kept');
    expect((await client.json<SandboxView>('POST', `/sandboxes/${sandbox}/stop`)).state).toBe('asleep');

    expect(await (await files('GET', content('kept.txt'))).text()).toBe('kept');
    expect(await state()).toBe('awake');
  });

  it('attack: a link or a path that leads out of the workspace shows no file of the host', async () => {
    await readOutput('ln -sf /etc/shadow shadow; ln -sf /proc/1/environ environ; ln -sfn / root');
    for (const path of ['shadow', 'root/etc/shadow', '../../etc/shadow', '/etc/shadow', 'root/root/.ssh/id_rsa']) {
      const { status } = await files('GET', content(path));
      expect({ path, refused: [404, 409, 422].includes(status) }).toEqual({ path, refused: true });
    }
    const environment = await files('GET', content('environ'));
    expect(await environment.text()).not.toContain('NATS_URL');
    const { status } = await files('PUT', content('root/usr/bin/planted'), 'x');
    expect(status).toBeGreaterThanOrEqual(400);
  });

  it('are gone with the sandbox: the next call is told, and the one after it has an empty one', async () => {
    expect((await files('DELETE', `/sandboxes/${sandbox}`)).status).toBe(204);
    expect(await state()).toBe('deleted');
    const [refused] = await readCalls('ls');
    expect(refused?.result).toMatchObject({ success: false, error: expect.stringContaining('were deleted on') });
    expect(await readOutput('ls | wc -l')).toBe('0\n');
  });
});
