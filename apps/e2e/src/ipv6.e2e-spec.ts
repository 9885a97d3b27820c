import { once } from 'node:events';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RondoClient, RunningRondo, command, scriptInput } from '@rondo/test-deployment';

/** The sockets of these processes that are of version 4 and not closing, as the lines of the kernel's table. */
function readVersion4Sockets(pids: readonly number[]): string[] {
  const files = pids.flatMap((pid) => {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).map((name) => readlinkSync(`${folder}/${name}`));
  });
  const [, ...lines] = readFileSync('/proc/net/tcp', 'utf8').trimEnd().split('\n');
  return lines.filter((line) => files.includes(`socket:[${line.trim().split(/\s+/)[9]}]`));
}

const fetchStatus = (url: string) => command(`curl -g -s -o /dev/null -w '%{http_code}' '${url}'; true`);

describe('a deployment that knows no address of version 4', () => {
  const api = createServer((_, response) => response.end('from inside'));
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    await once(api.listen(0, '::1'), 'listening');
    const internal = `[::1]:${(api.address() as AddressInfo).port}`;
    rondo = await RunningRondo.start({
      host: '::1',
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'summarizer', 'gateway'],
      settings: { 'tool-executor': { SANDBOX_INTERNAL_HOSTS: internal } },
    });
    client = rondo.client();
  });
  afterAll(async () => {
    await rondo.stop();
    api.close();
  });

  it('runs tools, streams over SSE and sockets, and has no connection of version 4', async () => {
    expect(new URL(client.url).hostname).toBe('[::1]');
    const { id } = await client.createRun({ model: 'demo/coder', input: 'Write a small program and run it.' });
    const [sent, watched] = await Promise.all([client.sse(id), client.watch(id)]);

    expect(sent.at(-1)).toMatchObject({ event: 'run.completed' });
    expect(watched.at(-1)).toMatchObject({ type: 'run.completed' });
    expect((await client.toolOutputs(id)).join()).toContain('FizzBuzz');
    expect(readVersion4Sockets(rondo.services.all.flatMap(({ pid }) => pid ?? []))).toEqual([]);
  });

  it('lets commands reach an internal host by its address, and no private one, however it is written', async () => {
    const { port } = api.address() as AddressInfo;
    const others = [`[::ffff:127.0.0.1]:${port}`, `[64:ff9b::7f00:1]:${port}`, `[fd00:ec2::254]`, `[fe80::1]`];
    const calls = [
      command(`curl -g -s 'http://[::1]:${port}/'`),
      ...others.map((one) => fetchStatus(`http://${one}/`)),
    ];
    const { id } = await client.createRun(scriptInput('reach', [{ calls }, { text: 'Done.' }]));

    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    expect(await client.toolOutputs(id)).toEqual(['from inside', ...others.map(() => '403')]);
  });
});
