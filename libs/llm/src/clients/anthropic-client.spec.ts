import type { ProviderSettings } from '@rondo/domain';
import { createAnthropicClient } from './anthropic-client';

const request = { path: '/v1/messages', params: { model: 'm' }, unsettled: 0 };

/** A request as this provider gets it. */
async function sendTo(provider: Partial<ProviderSettings>) {
  let sent = new Headers();
  let address = '';
  const client = createAnthropicClient(
    { name: 'claude', kind: 'anthropic', apiKey: 'k', headers: {}, models: [], ...provider },
    (url, init) => {
      address = String(url instanceof Request ? url.url : url);
      sent = new Headers(init?.headers);
      return Promise.resolve(new Response());
    },
  );
  await client.send(request, new AbortController().signal);
  return { address, headers: Object.fromEntries(sent) };
}

const headersFor = async (provider: Partial<ProviderSettings>) => (await sendTo(provider)).headers;

const interleaved = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };

describe('createAnthropicClient', () => {
  it('requests interleaved thinking from Anthropic itself', async () => {
    expect(await headersFor({})).toMatchObject(interleaved);
    expect(await headersFor({ baseUrl: 'https://api.anthropic.com/' })).toMatchObject(interleaved);
  });

  it('sends no beta header to other servers, which may refuse it', async () => {
    expect(await headersFor({ baseUrl: 'https://claude.example.com' })).not.toHaveProperty('anthropic-beta');
  });

  it.each([
    ['https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1/messages'],
    ['https://claude.example.com/anthropic', 'https://claude.example.com/anthropic/v1/messages'],
    ['https://claude.example.com/v1?team=red', 'https://claude.example.com/v1/messages?team=red'],
  ])('has the version in the path once, whether or not the base URL ends with it: %s', async (baseUrl, address) => {
    expect(await sendTo({ baseUrl })).toMatchObject({ address });
  });

  it('lets configured headers override the default ones', async () => {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07' };
    expect(await headersFor({ headers })).toMatchObject(headers);
  });
});
