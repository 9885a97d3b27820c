import { gzipSync } from 'node:zlib';
import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite({ SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') });

const api = () => gateway.as();
const problem = (status: number, code: string) => ({
  type: `urn:rondo:problem:${code}`,
  title: expect.any(String),
  status,
  code,
});

async function refusedRun(body: unknown, field: string): Promise<string> {
  const { body: answer, headers } = await api()
    .post('/v1/runs')
    .set('Content-Type', 'application/json')
    .send(JSON.stringify(body))
    .expect(422);
  expect(headers['content-type']).toBe('application/problem+json');
  expect(answer).toMatchObject(problem(422, 'invalid_request'));
  const wrong = (answer.errors as { field: string; message: string }[]).find((error) => error.field === field);
  expect(answer.errors).toContainEqual({ field, message: expect.any(String) });
  return wrong?.message ?? '';
}

const stored = async (path: string, body: object) => {
  const { id } = (await api().post(path).send(body).expect(201)).body as { id: string };
  return { path, one: `${path}/${id}` };
};

async function refuseBoth({ path, one }: { path: string; one: string }, body: object, field: string): Promise<void> {
  for (const request of [api().post(path), api().patch(one)]) {
    const { body: answer } = await request.send(body).expect(422);
    expect(answer.errors).toEqual([{ field, message: expect.stringContaining('demo/nonsense') }]);
  }
}

describe('an invalid request is refused with a problem', () => {
  it.each([
    [{ input: 'Go.', colour: 'blue' }, 'colour'],
    [{ input: 'Go.', limits: { max_iteration: 1 } }, 'limits.max_iteration'],
    [{ input: 'Go.', agent: { llm: { heat: 1 } } }, 'agent.llm.heat'],
    [{ input: 7 }, 'input'],
    [{ input: '' }, 'input'],
    [{ input: [{ type: 'text' }] }, 'input.0.text'],
    [{ input: [{ type: 'tool_call', name: 'x' }] }, 'input.0.type'],
    [{ input: 'Go.', limits: { max_iterations: 0 } }, 'limits.max_iterations'],
    [{ input: 'Go.', llm: { temperature: 'hot' } }, 'llm.temperature'],
    [{ input: 'Go.', llm: { temperature: 3 } }, 'llm.temperature'],
    [{ input: 'Go.', profile: 'unheard' }, 'profile'],
    [{ input: 'Go.', on_active_run: 'fight' }, 'on_active_run'],
    [{ input: 'Go.', thread_id: 'run_1' }, 'thread_id'],
    [{ input: 'Go.', metadata: Object.fromEntries([...Array(17).keys()].map((key) => [key, ''])) }, 'metadata'],
    [{ input: 'Go.', metadata: { ticket: 7 } }, 'metadata.ticket'],
    [{ input: 'nul \0' }, 'input'],
    [{}, 'input'],
    [[], ''],
    ['text', ''],
    [null, ''],
  ])('422 for %j, naming %s', async (body, field) => {
    await refusedRun(body, field);
  });

  it('422 for a model whose provider is not configured, with the variable to set', async () => {
    expect(await refusedRun({ input: 'Go.', model: 'openai/gpt-5' }, 'model')).toContain('OPENAI_API_KEY');
    expect(await refusedRun({ input: 'Go.', model: 'unheard/of' }, 'model')).toContain('unheard');
    expect(await refusedRun({ input: 'Go.', agent: { model: 'unheard/of' } }, 'model')).toContain('unheard');
    await refusedRun({ input: 'Go.', model: 'nameless' }, 'model');
  });

  it('422 for a model that the demo server does not have, wherever one is named', async () => {
    const model = 'demo/nonsense';
    expect(await refusedRun({ input: 'Go.', model }, 'model')).toContain('There is no model "demo/nonsense"');
    await refusedRun({ input: 'Go.', agent: { model } }, 'model');
    await refusedRun({ input: 'Go.', fallbacks: [model] }, 'fallbacks.0');
    const parameter = await refusedRun({ input: 'Go.', model: 'demo/plain:tokens=many' }, 'model');
    expect(parameter).toContain('tokens must be a whole number from 0 to 1000000');

    const agents = await stored('/v1/agents', { definition: { name: 'kept' } });
    await refuseBoth(agents, { definition: { name: 'new', model } }, 'definition.model');
    const run = { input: 'Go.' };
    const schedules = await stored('/v1/schedules', { name: 'kept', cron: '@daily', run });
    await refuseBoth(schedules, { name: 'new', cron: '@daily', run: { ...run, model } }, 'run.model');
    const triggers = await stored('/v1/triggers', { name: 'kept', run });
    await refuseBoth(triggers, { name: 'new', run: { ...run, model } }, 'run.model');
  });

  it('422 for an unknown tool', async () => {
    expect(await refusedRun({ input: 'Go.', tools: ['execute_command', 'fly'] }, 'tools')).toContain('fly');
  });

  it('422 for JSON that is nested too deep to store', async () => {
    const deep = `{"input":"Go.","llm":{"response_format":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}}`;
    await api().post('/v1/runs').set('Content-Type', 'application/json').send(deep).expect(422);
  });

  it.each([
    ['/v1/runs?limit=0', 'limit'],
    ['/v1/runs?limit=201', 'limit'],
    ['/v1/runs?limit=many', 'limit'],
    ['/v1/runs?status=asleep', 'status.0'],
    ['/v1/runs?page=2', 'page'],
    ['/v1/threads?limit=1.5', 'limit'],
    ['/v1/runs/run_1/events?after=-1', 'after'],
    ['/v1/runs/run_1/events?after=99999999999', 'after'],
    ['/v1/runs/run_1/wait?timeout_s=301', 'timeout_s'],
    ['/v1/runs/run_1?page=2', 'page'],
    ['/v1/runs/run_1/result?page=2', 'page'],
    ['/v1/runs/run_1/events/verify?page=2', 'page'],
    ['/v1/runs/run_1/tool-calls?limit=201', 'limit'],
    ['/v1/threads/thr_1?page=2', 'page'],
    ['/v1/models?page=2', 'page'],
    ['/v1/tools?page=2', 'page'],
    ['/v1/runs/run_1/wait?timeout_s=', 'timeout_s'],
    ['/v1/runs?created_from=0000-01-01T00:00:00Z', 'created_from'],
    ['/v1/audit?created_before=0000-12-31T23:59:59Z', 'created_before'],
    ['/v1/threads/thr_1/messages?type=song', 'type'],
    ['/v1/threads/thr_1/messages?llm_only=maybe', 'llm_only'],
  ])('422 for %s, naming %s', async (path, field) => {
    const { body } = await api().get(path).expect(422);
    expect(body).toMatchObject({ code: 'invalid_request', errors: [{ field }] });
  });

  it.each([
    ['/v1/runs?on_active_run=replace', 'on_active_run'],
    ['/v1/runs/run_1/stop?reason=x', 'reason'],
    ['/v1/threads?metadata=x', 'metadata'],
  ])('422 for a query of a POST: %s', async (path, field) => {
    const { body } = await api().post(path).send({ input: 'Go.' }).expect(422);
    expect(body).toMatchObject({ code: 'invalid_request', errors: [{ field }] });
  });

  it('takes half of a surrogate pair for a character that is none, wherever it is', async () => {
    const halved = { input: 'Go.', metadata: { note: 'a\ud800' }, agent: { system_prompt: '\udc00' } };
    const { body } = await api().post('/v1/runs').send(halved).expect(202);

    expect(body).toMatchObject({ metadata: { note: 'a\ufffd' }, settings: { agent: { system_prompt: '\ufffd' } } });
  });

  it('415 for a body that is compressed', async () => {
    const sending = api().post('/v1/runs').set('Content-Type', 'application/json').set('Content-Encoding', 'gzip');
    sending.write(gzipSync('{"input":"Go."}'));
    expect((await sending.expect(415)).body).toMatchObject(problem(415, 'unsupported_media_type'));
  });

  it('401 without a key, for any body', async () => {
    for (const body of ['{"input":', '[]', `"${'x'.repeat(100_000)}"`]) {
      const sending = gateway.anonymous.post('/v1/runs').set('Content-Type', 'application/json').send(body);
      expect((await sending.expect(401)).body).toMatchObject(problem(401, 'unauthorized'));
    }
  });

  it('400 for malformed JSON', async () => {
    const { body } = await api().post('/v1/runs').set('Content-Type', 'application/json').send('{"input":').expect(400);
    expect(body).toMatchObject(problem(400, 'malformed_json'));
  });

  it('400 for a body that is not UTF-8, instead of a run about other words', async () => {
    const latin1 = Buffer.from('{"input":"Wähle."}', 'latin1');
    const sending = api().post('/v1/runs').set('Content-Type', 'application/json');
    const { body } = await sending
      .serialize(() => latin1 as unknown as string)
      .send({})
      .expect(400); // as it is
    expect(body).toEqual({ ...problem(400, 'malformed_json'), detail: 'The body is not UTF-8, as JSON has to be.' });
  });

  it.each([
    '/v1/runs?after=%21',
    '/v1/runs?after=',
    '/v1/threads?after=bm90LWFuLWlk',
    '/v1/threads/{thread}/messages?after=x',
    '/v1/runs/run_1/events?after=',
    '/v1/runs/run_1/events?after=x',
    '/v1/runs/run_1/stream?after=x',
  ])('400 for the cursor of %s', async (path) => {
    const { body: thread } = await api().post('/v1/threads').expect(201);
    const { body } = await api().get(path.replace('{thread}', thread.id)).expect(400);
    expect(body).toMatchObject(problem(400, 'invalid_cursor'));
  });

  it.each(['x', '99999999999', '2147483648'])('400 for the Last-Event-ID %s, which is not a seq', async (id) => {
    const run = await gateway.createRun();
    const { body } = await api().get(`/v1/runs/${run.id}/stream`).set('Last-Event-ID', id).expect(400);
    expect(body.code).toBe('invalid_cursor');
  });

  it('401 without a key, with a wrong one, and with one in the URL, with a challenge', async () => {
    const answers = [
      await gateway.anonymous.get('/v1/runs').expect(401),
      await gateway.as('rondo_wrong').get('/v1/runs').expect(401),
      await gateway.anonymous.get('/v1/runs').query({ token: 'x' }).expect(401),
      await gateway.anonymous.get('/v1/runs').set('Authorization', 'Bearer').expect(401),
    ];
    for (const { body, headers } of answers) {
      expect(body).toMatchObject(problem(401, 'unauthorized'));
      expect(headers['www-authenticate']).toContain('Bearer');
    }
  });

  it('404 for an unknown path, and 405 for an unknown method of a known one', async () => {
    expect((await gateway.anonymous.get('/v1/nothing').expect(404)).body).toMatchObject(problem(404, 'not_found'));
    expect((await gateway.anonymous.get('/nothing').expect(404)).body.code).toBe('not_found');
    const { body, headers } = await api().delete('/v1/runs').expect(405);
    expect(body).toMatchObject(problem(405, 'method_not_allowed'));
    expect(headers['allow']).toBe('GET, POST');
  });

  it.each([
    ['get', '/v1/nothing?key=secret', 'There is no GET /v1/nothing. /docs lists what there is.'],
    ['put', '/v1/runs', 'There is no PUT /v1/runs. The header Allow lists the methods of this path.'],
    ['get', '/v1/runs/%FF', "The request could not be read: Failed to decode param '%FF'"],
  ] as const)('says what is wrong with %s %s', async (method, path, detail) => {
    expect((await api()[method](path)).body).toMatchObject({ detail });
  });

  it('404 with the same body for an id that is malformed, unknown, or of another account', async () => {
    const run = await gateway.createRun();
    const stranger = await gateway.toKey('stranger');
    const [foreign, unknown, malformed] = await Promise.all(
      [run.id, 'run_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'nonsense'].map(async (id) => {
        const { body } = await gateway.as(stranger).get(`/v1/runs/${id}`).expect(404);
        return JSON.stringify(body).replaceAll(id, '<id>');
      }),
    );
    expect(foreign).toBe(unknown);
    expect(malformed).toBe(unknown);
  });

  it('413 for a body that is too large, with the limit', async () => {
    const { body } = await api()
      .post('/v1/runs')
      .send({ input: 'x'.repeat(200_000) })
      .expect(413);
    const detail = 'The body is too large: it may have 100000 bytes.';
    expect(body).toEqual({ ...problem(413, 'payload_too_large'), detail });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
    '415 for %s',
    async (type) => {
      const { body } = await api().post('/v1/runs').set('Content-Type', type).send('{"input":"Go."}').expect(415);
      expect(body).toMatchObject(problem(415, 'unsupported_media_type'));
    },
  );

  it('503 with Retry-After while the database is away', async () => {
    const { runs } = gateway.parts;
    const away = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' });
    jest.spyOn(runs, 'list').mockRejectedValueOnce(away);

    const { body, headers } = await api().get('/v1/runs').expect(503);
    expect(body).toEqual({ ...problem(503, 'service_unavailable'), detail: 'Try again in a moment.' });
    expect(headers['retry-after']).toBe('1');
  });

  it('500 without any detail of an internal error (I12)', async () => {
    const { runs } = gateway.parts;
    jest.spyOn(runs, 'list').mockRejectedValueOnce(new Error('password=secret'));

    const { body } = await api().get('/v1/runs').expect(500);
    expect(body).toEqual(problem(500, 'internal_error'));
  });
});

describe('every response', () => {
  it('has security headers', async () => {
    const { headers } = await api().get('/v1/runs').expect(200);

    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
    expect(headers['x-powered-by']).toBeUndefined();
  });
});
