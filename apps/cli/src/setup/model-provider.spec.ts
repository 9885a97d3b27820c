import { once } from 'node:events';
import { type IncomingHttpHeaders, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testModel } from './model-provider';

interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server;
let received: Received;
let baseUrl: string;
let answer: { status: number; text: string };
beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      received = { url: request.url, headers: request.headers, body };
      response.writeHead(answer.status).end(answer.text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
});
afterAll(() => server.close());

describe('testModel', () => {
  it('asks a server with the API of OpenAI for a few tokens', async () => {
    answer = { status: 200, text: '{}' };
    expect(await testModel({ kind: 'openai', apiKey: 'k1', baseUrl: `${baseUrl}/v1/`, model: 'm' })).toEqual({
      works: true,
    });
    expect(received).toMatchObject({ url: '/v1/chat/completions', headers: { authorization: 'Bearer k1' } });
    expect(JSON.parse(received.body)).toMatchObject({ model: 'm', max_tokens: 16 });
  });

  it('asks a server with the API of Anthropic', async () => {
    answer = { status: 200, text: '{}' };
    expect(await testModel({ kind: 'anthropic', apiKey: 'k1', baseUrl, model: 'm' })).toEqual({ works: true });
    expect(received).toMatchObject({ url: '/v1/messages', headers: { 'x-api-key': 'k1' } });
    expect(received.headers['anthropic-version']).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it.each([
    [401, 'the key is refused'],
    [403, 'the key is refused'],
    [404, 'no such model'],
    [429, 'its limit is used up'],
    [500, 'it answered 500'],
  ])('explains %i', async (status, reason) => {
    answer = { status, text: 'said\n so' };
    const tested = await testModel({ kind: 'openai', apiKey: 'secret', baseUrl, model: 'm' });

    expect(tested).toMatchObject({ works: false, reason: expect.stringContaining(reason) });
    expect(tested).toMatchObject({ reason: expect.stringContaining('said so') });
    expect(JSON.stringify(tested)).not.toContain('secret');
  });

  it('says that a server is not there', async () => {
    const tested = await testModel({ kind: 'openai', apiKey: 'k', baseUrl: 'http://127.0.0.1:1/v1', model: 'm' });
    expect(tested).toMatchObject({ works: false, reason: expect.stringContaining('cannot be reached') });
  });
});
