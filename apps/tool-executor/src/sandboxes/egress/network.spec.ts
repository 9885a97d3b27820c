import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { run } from '../testing/run-command';
import { SandboxFixture } from '../embedded/testing/sandbox-fixture';
import type { Sandbox } from '../provider/sandbox';

/** Names as an attacker's name server would answer; the server of the test stands for the public internet. */
const names: Record<string, string[]> = {
  'public.example': ['127.0.0.2'],
  'rebind.example': ['127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'mixed.example': ['127.0.0.2', '127.0.0.1'],
};

describe('the network of a sandbox', () => {
  let fixture: SandboxFixture;
  let sandbox: Sandbox;
  let server: Server;
  let origin: (host: string) => string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const body: Buffer[] = [];
      request.on('data', (bytes: Buffer) => body.push(bytes));
      request.on('end', () =>
        response.end(`${request.method} ${request.headers.host} ${Buffer.concat(body).toString()}`),
      );
    });
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as { port: number }; // It listens on TCP.
    origin = (host) => `${host}:${port}`;
    fixture = await SandboxFixture.open(
      {},
      { resolve: async (host) => names[host] ?? [], isAllowed: (address) => address === '127.0.0.2' },
    );
    sandbox = await fixture.sandbox();
  });
  afterAll(async () => {
    await fixture.close();
    server.closeAllConnections();
    server.close();
  });

  const get = (url: string, options = '') => run(sandbox, `curl -sS -m 5 ${options} ${url}`);

  it('reaches public hosts, by plain requests and through tunnels', async () => {
    const url = `http://${origin('public.example')}/`;

    await expect(get(url, '-d hello')).resolves.toMatchObject({ output: `POST ${origin('public.example')} hello` });
    await expect(get(url, '--proxytunnel -d hello')).resolves.toMatchObject({
      output: `POST ${origin('public.example')} hello`,
    });
  });

  it('reaches nothing without the proxy, although the host itself can', async () => {
    expect((await fetch(`http://${origin('127.0.0.2')}/`)).status).toBe(200);

    await expect(get(`http://${origin('127.0.0.2')}/`, '--noproxy "*"')).resolves.toMatchObject({ exitCode: 7 });
  });

  it.each([
    'rebind.example',
    'metadata.example',
    'mixed.example',
    'unknown.example',
    '127.0.0.1',
    '169.254.169.254',
    '[::1]',
    '2130706433',
  ])('is closed to %s, asked plainly or by tunnel', async (host) => {
    const url = `http://${origin(host)}/`;

    await expect(get(url, '-g --noproxy ""')).resolves.toMatchObject({
      output: expect.stringContaining('not a public address'),
    });
    await expect(get(url, '-g --noproxy "" --proxytunnel')).resolves.toMatchObject({ exitCode: 56 });
  });

  it('survives clients that send invalid HTTP or disconnect early', async () => {
    const nonsense = `node -e "
      const net = require('net');
      for (const text of ['\\\\x00\\\\xff', 'GET', 'CONNECT :::: HTTP/1.1\\\\r\\\\n\\\\r\\\\n', 'CONNECT ${origin('public.example')} HTTP/1.1\\\\r\\\\n\\\\r\\\\n'])
        net.connect(3128, '127.0.0.1', function () { this.write(text); setTimeout(() => this.destroy(), 20); }).on('error', () => {});"`;
    await run(sandbox, nonsense);

    await expect(get(`http://${origin('public.example')}/`)).resolves.toMatchObject({ exitCode: 0 });
  });

  it.each(['none', 'public'] as const)(
    'leads to internal hosts under the policy %s, by their own address',
    async (policy) => {
      const fixture = await SandboxFixture.open({ egress: { policy, internalHosts: [origin('127.0.0.1')] } });
      const sandbox = await fixture.sandbox();
      const get = (url: string) => run(sandbox, `curl -sS -m 5 ${url}`);

      await expect(get(`http://${origin('127.0.0.1')}/`)).resolves.toMatchObject({
        output: `GET ${origin('127.0.0.1')} `,
      });
      await expect(get(`-p http://${origin('127.0.0.1')}/`)).resolves.toMatchObject({ exitCode: 0 });
      for (const closed of ['127.0.0.1:1', origin('127.0.0.2'), origin('169.254.169.254')]) {
        await expect(get(`http://${closed}/`)).resolves.toMatchObject({
          output: expect.stringMatching(/no network|not a public/),
        });
      }
      await fixture.close();
    },
  );

  it('lets commands reach servers of the same sandbox as localhost', async () => {
    const fixture = await SandboxFixture.open({ egress: { policy: 'public', internalHosts: [origin('127.0.0.1')] } });
    const sandbox = await fixture.sandbox();

    await expect(run(sandbox, 'echo $no_proxy $NO_PROXY')).resolves.toMatchObject({
      output: 'localhost,::1 localhost,::1\n',
    });
    await fixture.close();
  });

  it('does not exist under the policy `none`', async () => {
    const closed = await SandboxFixture.open({ egress: { policy: 'none', internalHosts: [] } });
    const lonely = await closed.sandbox();

    await expect(run(lonely, 'env | grep -i proxy')).resolves.toMatchObject({ output: '' });
    await expect(run(lonely, 'exec 9<>/dev/tcp/127.0.0.1/3128')).resolves.toMatchObject({ exitCode: 1 });
    await closed.close();
  });
});
