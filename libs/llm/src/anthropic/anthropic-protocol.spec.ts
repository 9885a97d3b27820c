import { AnthropicProtocol } from './anthropic-protocol';

const headersFor = (provider: { baseUrl?: string; headers?: Record<string, string> }) =>
  new AnthropicProtocol({ name: 'claude', kind: 'anthropic', apiKey: 'k', headers: {}, models: [], ...provider })
    .headers;

const interleaved = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };

describe('AnthropicProtocol', () => {
  it('requests interleaved thinking from Anthropic itself', () => {
    expect(headersFor({})).toMatchObject(interleaved);
    expect(headersFor({ baseUrl: 'https://api.anthropic.com/' })).toMatchObject(interleaved);
  });

  it('sends no beta header to other servers, which may refuse it', () => {
    expect(headersFor({ baseUrl: 'https://claude.example.com' })).not.toHaveProperty('anthropic-beta');
  });

  it('lets configured headers override the default ones', () => {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07' };
    expect(headersFor({ headers })).toMatchObject(headers);
  });
});
