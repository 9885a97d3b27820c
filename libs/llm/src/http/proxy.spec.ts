import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createModels } from '../models';
import { openAi } from '../testing/protocol-scripts';
import { readReply, requestTo } from '../testing/read-model-reply';
import { ScriptedProvider } from '../testing/scripted-provider';

let provider: ScriptedProvider;
let proxy: Server;
/** What the proxy was asked to connect to. */
let asked: string[];

beforeEach(async () => {
  provider = await ScriptedProvider.start();
  provider.will({ pieces: openAi.whole('Hello') });
  asked = [];
  proxy = createServer();
  proxy.on('connect', (request, client) => {
    asked.push(request.url ?? '');
    const server = connect(Number(new URL(provider.url).port), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      server.pipe(client).pipe(server);
    });
    for (const end of [server, client]) end.on('error', () => end.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
afterEach(async () => {
  await provider.stop();
  proxy.closeAllConnections();
  proxy.close();
});

function ask(baseUrl: string, more: { noProxy?: string } = {}) {
  const httpProxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const acme = { name: 'acme', kind: 'openai', apiKey: 'key', headers: {}, models: [], baseUrl } as const;
  const models = createModels({
    providers: [acme],
    retries: { attempts: 1 },
    proxies: { httpProxy, ...more },
  });
  return readReply(models.stream(requestTo('acme/m'), new AbortController().signal));
}

describe('a proxy', () => {
  it('is asked to connect to the model server', async () => {
    expect((await ask('http://models.invalid/v1')).text).toBe('Hello');
    expect(asked).toEqual(['models.invalid:80']);
    expect(provider.requests[0]?.headers['host']).toBe('models.invalid');
  });

  it('is not asked for hosts that are reached without, nor for this machine', async () => {
    const { end } = await ask('http://models.invalid/v1', { noProxy: 'other.example,.invalid' });
    expect(end).toMatchObject({ how: 'failed', error: { code: 'connection_error' } });
    expect((await ask(provider.url)).text).toBe('Hello');
    expect(asked).toEqual([]);
  });
});
