import { AnthropicProtocol } from './anthropic-protocol';

const headersFor = (provider: { baseUrl?: string; headers?: Record<string, string> }) =>
  new AnthropicProtocol({ name: 'claude', kind: 'anthropic', apiKey: 'k', headers: {}, models: [], ...provider })
    .headers;

const interleaved = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };

describe('AnthropicProtocol', () => {
  it('asks Anthropic itself for thoughts between the calls of tools', () => {
    expect(headersFor({})).toMatchObject(interleaved);
    expect(headersFor({ baseUrl: 'https://api.anthropic.com/' })).toMatchObject(interleaved);
  });

  it('asks no other server for a beta, which may refuse it', () => {
    expect(headersFor({ baseUrl: 'https://claude.example.com' })).not.toHaveProperty('anthropic-beta');
  });

  it('lets the headers of the provider win', () => {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07' };
    expect(headersFor({ headers })).toMatchObject(headers);
  });
});
