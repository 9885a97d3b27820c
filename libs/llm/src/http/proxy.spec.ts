import { ConnectProxy } from '@rondo/platform/testing';
import { createModels } from '../models';
import { openAi } from '../testing/protocol-scripts';
import { readReply, requestTo } from '../testing/read-model-reply';
import { ScriptedProvider } from '../testing/scripted-provider';

let provider: ScriptedProvider;
let proxy: ConnectProxy;

beforeEach(async () => {
  provider = await ScriptedProvider.start();
  provider.will({ pieces: openAi.whole('Hello') });
  proxy = await ConnectProxy.start(() => Number(new URL(provider.url).port));
});
afterEach(async () => {
  await provider.stop();
  proxy.stop();
});

function ask(baseUrl: string, more: { noProxy?: string } = {}) {
  const acme = { name: 'acme', kind: 'openai', apiKey: 'key', headers: {}, models: [], baseUrl } as const;
  const models = createModels({
    providers: [acme],
    retries: { attempts: 1 },
    proxies: { httpProxy: proxy.url, ...more },
  });
  return readReply(models.stream(requestTo('acme/m'), new AbortController().signal));
}

describe('a proxy', () => {
  it('is asked to connect to the model server', async () => {
    expect((await ask('http://models.invalid/v1')).text).toBe('Hello');
    expect(proxy.asked).toEqual(['models.invalid:80']);
    expect(provider.requests[0]?.headers['host']).toBe('models.invalid');
  });

  it('is not asked for hosts that are reached without, nor for this machine', async () => {
    const { end } = await ask('http://models.invalid/v1', { noProxy: 'other.example,.invalid' });
    expect(end).toMatchObject({ how: 'failed', error: { code: 'connection_error' } });
    expect((await ask(provider.url)).text).toBe('Hello');
    expect(proxy.asked).toEqual([]);
  });
});
