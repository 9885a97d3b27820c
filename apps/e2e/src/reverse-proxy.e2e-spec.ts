import { RondoClient, RunningRondo } from '@rondo/test-deployment';
import { type Socket, io } from 'socket.io-client';
import { type RunningConsole, openConsole, stopBrowser } from './console-browser';
import { ProxyServer, proxyPrograms } from './proxy-server';

/** The path is an option of Socket.IO; in the URL it would be a part of the namespace. */
class ClientBelowPath extends RondoClient {
  override connect(): Socket {
    const { origin, pathname } = new URL(this.url);
    const path = `${pathname}/socket.io/`;
    return io(`${origin}/runs`, { path, transports: ['websocket'], auth: { token: this.key }, forceNew: true });
  }
}

/** With the configuration of docs/reverse-proxy.md. */
describe.each(proxyPrograms.filter(({ file }) => file !== undefined))('a gateway below a path of $name', (program) => {
  let rondo: RunningRondo;
  let proxy: ProxyServer;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await RunningRondo.start({
      instances: ['demo-model', 'tool-executor', 'agent-worker', 'gateway'],
      settings: { gateway: { PUBLIC_URL: 'https://proxy.example/rondo', TRUSTED_PROXY_HOPS: '1' } },
    });
    const direct = rondo.client();
    proxy = await ProxyServer.start(program, direct.url);
    client = new ClientBelowPath(proxy.url, direct.key);
  });
  afterAll(async () => {
    await proxy.close();
    await rondo.stop();
  });

  it('takes a run, and streams it over SSE and over a socket', async () => {
    const { id } = await client.createRun({ model: 'demo/coder', input: 'Write a small program and run it.' });
    const [sent, watched] = await Promise.all([client.sse(id), client.watch(id)]);

    expect(sent.at(-1)).toMatchObject({ event: 'run.completed' });
    expect(watched.at(-1)).toMatchObject({ type: 'run.completed' });
    expect((await client.facts(id)).at(-1)).toMatchObject({ type: 'run.completed' });
  });

  it('delivers an event before the stream has ended', async () => {
    const { id } = await client.createRun({ model: 'demo/slow-tool', input: 'Wait.' });
    const stream = await fetch(`${client.url}/v1/runs/${id}/stream`, {
      headers: { Authorization: `Bearer ${client.key}` },
    });
    const reader = stream.body?.getReader();
    let text = '';
    while (!text.includes('event: tool.started')) text += Buffer.from((await reader?.read())?.value ?? []).toString();

    expect((await client.run(id)).status).toBe('running');
    await client.json('POST', `/runs/${id}/stop`, {});
    await reader?.cancel();
  });

  it('says below the path where a new run is', async () => {
    const response = await fetch(`${client.url}/v1/runs`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${client.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'demo/coder', input: 'Hi.' }),
    });
    const { id } = (await response.json()) as { id: string };
    expect(new URL(response.headers.get('location') ?? '', client.url).pathname).toBe(`/rondo/v1/runs/${id}`);
  });

  it('has its document below the path', async () => {
    const page = await fetch(`${client.url}/docs`);
    expect([page.status, page.url]).toEqual([200, `${client.url}/docs`]);
    const document = (await (await fetch(`${client.url}/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: '/rondo' }]);
  });

  describe('in a browser', () => {
    let running: RunningConsole;
    beforeAll(async () => {
      running = await openConsole(rondo, client);
    });
    afterAll(() => stopBrowser(running.browser));

    it('the console opens by a link, shows a run and stays below the path when it is loaded again', async () => {
      const { browser, page } = running;
      expect(new URL(page.url()).pathname).toMatch(/^\/rondo\/console\//);
      const { id } = await client.createRun({ model: 'demo/coder', input: 'Write a small program and run it.' });
      await client.waitForRun(id);
      await browser.open(`/console/runs/${id}`);
      await page.getByText('Write a small program and run it.').first().waitFor();
      await page.getByRole('link', { name: 'Threads' }).first().click();
      await page.getByRole('heading', { level: 1, name: 'Threads' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/rondo/console/threads');
    });

    it('the queue board loads its scripts and its queues', async () => {
      const { browser, page } = running;
      const answered = page.waitForResponse((response) => response.url().startsWith(`${client.url}/admin/queues/api/`));
      await browser.open('/console/health');
      await page.getByRole('link', { name: 'Queue board' }).click();
      expect((await answered).status()).toBe(200);
      await page.getByText('runs').first().waitFor();
      expect(new URL(page.url()).pathname).toMatch(/^\/rondo\/admin\/queues/);
    });
  });
});
