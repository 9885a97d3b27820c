import type { ProviderSettings } from '@rondo/domain';
import { createAnthropicClient } from './anthropic-client';

const request = { path: '/v1/messages', params: { model: 'm' }, unsettled: 0 };

/** The headers of a request to this provider. */
async function headersFor(provider: Partial<ProviderSettings>): Promise<Record<string, string>> {
  let sent = new Headers();
  const client = createAnthropicClient(
    { name: 'claude', kind: 'anthropic', apiKey: 'k', headers: {}, models: [], ...provider },
    (_url, init) => {
      sent = new Headers(init?.headers);
      return Promise.resolve(new Response());
    },
  );
  await client.send(request, new AbortController().signal);
  return Object.fromEntries(sent);
}

const interleaved = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };

describe('createAnthropicClient', () => {
  it('requests interleaved thinking from Anthropic itself', async () => {
    expect(await headersFor({})).toMatchObject(interleaved);
    expect(await headersFor({ baseUrl: 'https://api.anthropic.com/' })).toMatchObject(interleaved);
  });

  it('sends no beta header to other servers, which may refuse it', async () => {
    expect(await headersFor({ baseUrl: 'https://claude.example.com' })).not.toHaveProperty('anthropic-beta');
  });

  it('lets configured headers override the default ones', async () => {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07' };
    expect(await headersFor({ headers })).toMatchObject(headers);
  });
});
