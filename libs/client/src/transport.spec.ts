import { Rondo } from './rondo.ts';
import { ConnectionError, RondoError } from './errors.ts';
import { ScriptedGateway, sendJson } from './testing/scripted-gateway.ts';

const problem = {
  type: 'urn:rondo:problem:invalid_request',
  title: 'Unprocessable Entity',
  status: 422,
  code: 'invalid_request',
  detail: 'model: unknown',
  errors: [{ field: 'model', message: 'unknown' }],
};

const busy = { type: 'urn:x', title: 'Too Many Requests', status: 429, code: 'rate_limited' };

let gateway: ScriptedGateway;
afterEach(() => gateway.close());

describe('a request', () => {
  it('is refused with the problem and its fields', async () => {
    gateway = await ScriptedGateway.start((_, response) => sendJson(response, 422, problem));

    const refused = await new Rondo(gateway.options).runs.create({ input: 'Go.' }).catch((error: unknown) => error);

    expect(refused).toBeInstanceOf(RondoError);
    expect(refused).toMatchObject({ problem, code: 'invalid_request', status: 422, message: 'model: unknown' });
    expect(refused).toMatchObject({ errors: problem.errors });
    expect(gateway.requests).toHaveLength(1);
  });

  it('asks anew for a key that is a function', async () => {
    gateway = await ScriptedGateway.start((_, response) => sendJson(response, 200, { id: 'run_1' }));
    let asked = 0;
    const rondo = new Rondo({ ...gateway.options, apiKey: () => Promise.resolve(`token ${(asked += 1)}`) });

    await rondo.runs.get('run_1');
    await rondo.runs.get('run_1');

    expect(gateway.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token 1', 'Bearer token 2']);
  });

  it('that creates something is sent again with the same key, when the gateway says so', async () => {
    gateway = await ScriptedGateway.start((_, response) => {
      if (gateway.requests.length === 1) sendJson(response, 429, busy, { 'Retry-After': '0' });
      else if (gateway.requests.length === 2) response.destroy();
      else sendJson(response, 202, { id: 'run_1' });
    });

    expect(await new Rondo(gateway.options).runs.create({ input: 'Go.' })).toEqual({ id: 'run_1' });

    const keys = gateway.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  it('is sent again with the same key where its answer was cut off', async () => {
    gateway = await ScriptedGateway.start((_, response) => {
      if (gateway.requests.length > 1) sendJson(response, 202, { id: 'run_1' });
      else response.writeHead(202, { 'Content-Length': '100' }).write('{"id": ', () => response.destroy());
    });

    expect(await new Rondo(gateway.options).runs.create({ input: 'Go.' })).toEqual({ id: 'run_1' });

    const keys = gateway.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  it.each([
    ['of a route without a method here', (rondo: Rondo) => rondo.request({ path: '/v1/x' }), '{"a":1}', { a: 1 }],
    ['for a table', (rondo: Rondo) => rondo.usageCsv(), 'day\r\n', 'day\r\n'],
  ])('%s is sent again, too, where its answer was cut off', async (_about, ask, whole, read) => {
    gateway = await ScriptedGateway.start((_, response) => {
      if (gateway.requests.length === 2) response.end(whole);
      else response.writeHead(200, { 'Content-Length': '100' }).write(whole.slice(0, 2), () => response.destroy());
    });

    expect(await ask(new Rondo(gateway.options))).toEqual(read);
    await expect(ask(new Rondo({ ...gateway.options, retries: 0 }))).rejects.toThrow(ConnectionError);
  });

  it('whose first attempt died with its gateway is sent again until its key is free', async () => {
    const inFlight = { type: 'urn:x', title: 'Conflict', status: 409, code: 'idempotency_in_flight' };
    gateway = await ScriptedGateway.start((_, response) => {
      if (gateway.requests.length === 1) response.destroy();
      else if (gateway.requests.length <= 10) sendJson(response, 409, inFlight, { 'Retry-After': '0' });
      else sendJson(response, 202, { id: 'run_1' });
    });

    expect(await new Rondo(gateway.options).runs.create({ input: 'Go.' })).toEqual({ id: 'run_1' });
    expect(gateway.requests).toHaveLength(11);
  });

  it('to delete, whose answer was lost, resolves when there is nothing more to delete', async () => {
    const gone = { type: 'urn:x', title: 'Not Found', status: 404, code: 'agent_not_found' };
    gateway = await ScriptedGateway.start((_, response) => {
      if (gateway.requests.length === 1) response.destroy();
      else sendJson(response, 404, gone);
    });
    const { agents } = new Rondo(gateway.options);

    expect(await agents.delete('agt_1')).toBeUndefined();
    await expect(agents.delete('agt_1')).rejects.toMatchObject({ code: 'agent_not_found' });
  });

  it('to delete, whose answer was lost and says something, rejects with words that say so', async () => {
    gateway = await ScriptedGateway.start((_, response) => {
      if (gateway.requests.length === 1) response.destroy();
      else sendJson(response, 404, { type: 'urn:x', title: 'Not Found', status: 404, code: 'user_not_found' });
    });

    await expect(new Rondo(gateway.options).users.remove('ann')).rejects.toMatchObject({
      name: 'ConnectionError',
      message: 'The answer was lost: what it deleted is gone.',
    });
  });

  it('for a version, whose answer was lost, does not take its own write for that of another', async () => {
    const changed = {
      type: 'urn:x',
      title: 'Conflict',
      status: 409,
      code: 'memory_entry_changed',
      detail: 'It has 1.',
    };
    gateway = await ScriptedGateway.start((_, response) => {
      if (gateway.requests.length === 1) response.destroy();
      else sendJson(response, 409, changed);
    });
    const { memoryStores } = new Rondo(gateway.options);
    const write = () => memoryStores.write('mem_1', { path: 'a' }, { content: 'A', if_version: 0 });

    await expect(write()).rejects.toMatchObject({
      name: 'ConnectionError',
      message: expect.stringMatching('^The answer was lost, .* refused: It has 1.$'),
      cause: { code: 'memory_entry_changed' },
    });
    await expect(write()).rejects.toMatchObject({ code: 'memory_entry_changed' });
  });

  it('has the headers that it is given, however their names are written', async () => {
    gateway = await ScriptedGateway.start((_, response) => sendJson(response, 200, {}));
    const headers = { 'idempotency-key': 'once', 'content-type': 'application/merge-patch+json', authorization: 'Own' };

    await new Rondo(gateway.options).request({ method: 'POST', path: '/v1/x', json: {}, headers });

    expect(gateway.requests[0]?.headers).toMatchObject(headers);
  });

  it('that starts a run has the key that it is given, and its files', async () => {
    gateway = await ScriptedGateway.start((_, response) => sendJson(response, 202, { id: 'run_1' }));
    const attachments = [new File(['a,b'], 'a.csv')];

    await new Rondo(gateway.options).runs.create({ input: 'Go.', model: 'm' }, { idempotencyKey: 'once', attachments });

    const { headers } = gateway.requests[0] ?? {};
    expect(headers).toMatchObject({
      'idempotency-key': 'once',
      'content-type': expect.stringMatching('^multipart/form-data'),
    });
  });

  it('of a route with a query and a body has both, and then its options', async () => {
    gateway = await ScriptedGateway.start((_, response, body) => sendJson(response, 200, JSON.parse(body)));
    const { memoryStores } = new Rondo(gateway.options);

    expect(await memoryStores.write('mem_1', { path: 'a b.md' }, { content: 'A', if_version: 0 })).toEqual({
      content: 'A',
      if_version: 0,
    });

    expect(gateway.requests[0]).toMatchObject({ method: 'PUT', url: '/v1/memory-stores/mem_1/entry?path=a+b.md' });
    const late = { signal: AbortSignal.abort() };
    await expect(memoryStores.write('mem_1', { path: 'a' }, { content: 'A' }, late)).rejects.toThrow();
    expect(gateway.requests).toHaveLength(1);
  });

  it('that creates an API key is sent once', async () => {
    gateway = await ScriptedGateway.start((_, response) => sendJson(response, 503, { ...busy, status: 503 }));

    await expect(new Rondo(gateway.options).apiKeys.create({ name: 'k', scopes: ['read'] })).rejects.toThrow();

    expect(gateway.requests).toHaveLength(1);
    expect(gateway.requests[0]?.headers).not.toHaveProperty('idempotency-key');
  });

  it('is given up after the retries', async () => {
    gateway = await ScriptedGateway.start((_, response) => response.destroy());

    const rondo = new Rondo({ ...gateway.options, retries: 1 });
    await expect(rondo.runs.get('run_1')).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(gateway.requests).toHaveLength(2);
  });

  it('does not do a second time what a person did in a browser', async () => {
    gateway = await ScriptedGateway.start((_, response) => response.writeHead(503).end());
    const type = { type: 'text', text: 'x' } as const;

    await expect(new Rondo(gateway.options).sandboxes.operateBrowser('sbx_1', type)).rejects.toMatchObject({
      name: 'ConnectionError',
    });

    expect(gateway.requests.map(({ url, headers }) => [url, headers['idempotency-key']])).toEqual([
      ['/v1/sandboxes/sbx_1/browser/actions', undefined],
    ]);
  });

  it('says that an answer is not from a gateway', async () => {
    gateway = await ScriptedGateway.start((_, response) => response.writeHead(404).end('<html>'));

    await expect(new Rondo(gateway.options).runs.get('run_1')).rejects.toThrow('404 is not from a Rondo gateway');
  });

  it('says so of a page for people, too, whatever its status', async () => {
    gateway = await ScriptedGateway.start((_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>'),
    );

    const { runs } = new Rondo(gateway.options);
    const expected = { code: 'no_problem', message: 'The answer 200 is not from a Rondo gateway.' };
    await expect(runs.get('run_1')).rejects.toMatchObject(expected);
    await expect(runs.stream('run_1').next()).rejects.toMatchObject(expected);
    expect(gateway.requests).toHaveLength(2);
  });

  it.each(['', '.', '..'])('for the id "%s" is not sent: it would ask for something else', async (id) => {
    gateway = await ScriptedGateway.start((_, response) => sendJson(response, 200, { data: [], next_cursor: null }));
    const { runs, threads } = new Rondo(gateway.options);
    const refused = { name: 'TypeError', message: `"${id}" is no id and no name.` };

    await expect(runs.get(id)).rejects.toMatchObject(refused);
    await expect(runs.stream(id).next()).rejects.toMatchObject(refused);
    await expect(threads.messages(id).next()).rejects.toMatchObject(refused);
    expect(gateway.requests).toEqual([]);
  });

  it('carries the key and encodes what it is given', async () => {
    gateway = await ScriptedGateway.start((_, response) => sendJson(response, 200, { data: [], truncated: false }));

    await new Rondo({ ...gateway.options, baseUrl: `${gateway.url}/` }).sandboxes.files('../x', { path: 'a b&c' });

    expect(gateway.requests).toMatchObject([
      { url: '/v1/sandboxes/..%2Fx/files?path=a+b%26c', headers: { authorization: 'Bearer rondo_key' } },
    ]);
  });
});

describe('usage as a table', () => {
  const answer = (more: Record<string, string>) =>
    ScriptedGateway.start((_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/csv', ...more }).end('day\r\n'),
    );

  it('has all rows, or is refused', async () => {
    gateway = await answer({});
    expect(await new Rondo(gateway.options).usageCsv({ group_by: 'day' })).toBe('day\r\n');
    expect(gateway.requests[0]?.url).toBe('/v1/usage?limit=10000&group_by=day');
    await gateway.close();

    gateway = await answer({ 'X-Has-More': 'true' });
    const rondo = new Rondo(gateway.options);
    await expect(rondo.usageCsv()).rejects.toThrow('Too many rows');
    expect(await rondo.usageCsv({ limit: 5 })).toBe('day\r\n');
  });
});

describe('a list', () => {
  it('reads page by page, as far as it is read', async () => {
    gateway = await ScriptedGateway.start(({ url = '' }, response) => {
      const after = new URL(url, gateway.url).searchParams.get('after');
      const page = after === null ? { ids: ['1', '2'], next: 'c1' } : { ids: ['3'], next: null };
      sendJson(response, 200, { data: page.ids.map((id) => ({ id })), next_cursor: page.next });
    });
    const rondo = new Rondo(gateway.options);

    for await (const { id } of rondo.runs.list({ status: 'running' })) if (id === '2') break;
    expect(gateway.requests.map(({ url }) => url)).toEqual(['/v1/runs?status=running']);

    const ids: unknown[] = [];
    for await (const { id } of rondo.runs.list()) ids.push(id);
    expect(ids).toEqual(['1', '2', '3']);
  });
});
