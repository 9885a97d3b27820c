import { RunningGateway, adminKey } from '../../testing/running-gateway';
import { TestWorker } from '../../testing/test-worker';
import { writeEventId } from './mcp.translate';

const gateway = RunningGateway.forSuite({ ALLOWED_ORIGINS: ['https://app.example.com'] });
const worker = TestWorker.forSuite(gateway);

interface Answer {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
}

const accept = 'application/json, text/event-stream';
const post = (message: object | string, headers: Record<string, string> = {}, key = adminKey) =>
  gateway
    .as(key)
    .post('/mcp')
    .set({ Accept: accept, 'Content-Type': 'application/json', ...headers })
    .send(message);

/** Of a body, or of the last event of a stream. */
const readAnswer = ({ body, text }: { body: unknown; text: string }): Answer => {
  const data = text.split('\n').findLast((line) => line.startsWith('data: {'));
  return (data === undefined ? body : JSON.parse(data.slice(6))) as Answer;
};

const request = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 7, method, params });
const call = (name: string, args: object = {}) => request('tools/call', { name, arguments: args });
const prefix = 'io.modelcontextprotocol/';
const newer = (method: string, params: object = {}, version = '2026-07-28') =>
  request(method, {
    ...params,
    _meta: {
      [`${prefix}protocolVersion`]: version,
      [`${prefix}clientInfo`]: { name: 'test', version: '1' },
      [`${prefix}clientCapabilities`]: { elicitation: {} },
    },
  });
const newerHeaders = (method: string, more: Record<string, string> = {}) => ({
  'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': method,
  ...more,
});

describe('every request', () => {
  it('needs a key, and is told how to send it', async () => {
    const { headers, body } = await gateway.anonymous.post('/mcp').send(request('ping')).expect(401);
    expect(headers['www-authenticate']).toContain('Bearer');
    expect(body).toMatchObject({ jsonrpc: '2.0', id: null, error: { data: { code: 'unauthorized' } } });
  });

  it.each([
    ['https://evil.example.com', 403],
    ['null', 403],
    ['https://app.example.com', 200],
    [undefined, 200],
  ])('of a page of %s is answered with %i', async (origin, status) => {
    const headers = origin === undefined ? {} : { Origin: origin };
    await post(request('ping'), headers).expect(status);
    await post(newer('tools/list'), { ...newerHeaders('tools/list'), ...headers }).expect(status);
    if (status === 403) await gateway.as().get('/mcp').set(headers).expect(403);
  });

  it('of a page of the gateway itself is answered', async () => {
    await post(request('ping'), { Origin: gateway.url }).expect(200);
  });

  it.each([
    ['{', {}, 400, -32_700],
    ['[]', {}, 400, -32_600],
    [JSON.stringify([request('ping')]), {}, 400, -32_600],
    ['{"id":1}', {}, 400, -32_600],
    ['{}', { 'Content-Type': 'text/plain' }, 415, -32_000],
  ])('that is wrong is refused in the form of JSON-RPC: %s', async (body, headers, status, code) => {
    const answer = await post(body, headers).expect(status);
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
  });
});

describe('up to 2025-11-25', () => {
  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'initialize answers the version %s',
    async (version) => {
      const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const { result } = readAnswer(await post(request('initialize', params)).expect(200));
      expect(result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'rondo' } });
    },
  );

  it('no session and no handshake is needed', async () => {
    expect(readAnswer(await post(request('ping')).expect(200)).result).toEqual({});
    expect(readAnswer(await post(request('tools/list')).expect(200)).result?.['tools']).toHaveLength(5);
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' }).expect(202);
    await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } }).expect(202);
  });

  it('there is no other stream, and no session to end', async () => {
    const { headers } = await gateway.as().get('/mcp').expect(405);
    expect(headers['allow']).toBe('POST');
    const { body } = await gateway.as().delete('/mcp').expect(405);
    expect(body).toMatchObject({ error: { message: expect.stringContaining('there are no sessions') as string } });
  });

  it('an unknown method is an error in an answer, and one that is not served has its reason', async () => {
    expect(readAnswer(await post(request('nope/x')).expect(200)).error).toMatchObject({ code: -32_601 });
    expect(readAnswer(await post(request('server/discover')).expect(200)).error).toMatchObject({ code: -32_601 });
    expect(readAnswer(await post(request('prompts/list')).expect(200)).error).toMatchObject({
      code: -32_601,
      message: 'prompts/list is not served here: this server has no prompts.',
    });
  });

  it('an unknown version is refused with those that there are', async () => {
    for (const method of ['tools/list', 'tools/call'])
      expect((await post(request(method), { 'MCP-Protocol-Version': '1999-01-01' }).expect(400)).text).toContain(
        '2025-11-25',
      );
  });

  it('a wrong call is an error of the protocol', async () => {
    expect(readAnswer(await post(call('paint'))).error).toMatchObject({ code: -32_602 });
    expect(readAnswer(await post(request('tools/call', { arguments: {} }))).error).toMatchObject({ code: -32_602 });
    const task = request('tools/call', { name: 'get_run', arguments: {}, task: {} });
    expect(readAnswer(await post(task)).error).toMatchObject({ code: -32_601 });
  });

  it.each([
    ['2025-11-25', true],
    ['2025-06-18', false],
  ])('an answer begins with an event that has only an id: %s %s', async (version, isOpened) => {
    const { id } = await gateway.createRun();
    const headers = { 'MCP-Protocol-Version': version };
    const { text } = await post(call('get_run', { run_id: id, wait_s: 0.05 }), headers).expect(200);
    expect(/^id: \S+\ndata: \n\n/.test(text)).toBe(isOpened);
    expect(readAnswer({ text, body: undefined }).result).toMatchObject({ structuredContent: { status: 'queued' } });
  });

  it('progress has ids that any gateway can resume, without what was sent', async () => {
    const { id } = await gateway.createRun();
    const run = await worker.claim(id);
    run.streamText('Words. '.repeat(40));
    await run.finishMessage();
    await run.complete();
    const point = { runId: id, requestId: 'a', progressToken: 0, isTask: false, until: null };
    const read = async (lastEventId: string) =>
      (await gateway.as().get('/mcp').set({ Accept: 'text/event-stream', 'Last-Event-ID': lastEventId }).expect(200))
        .text;
    const whole = await read(writeEventId({ ...point, seq: 0, units: 0 }));
    const ids = [...whole.matchAll(/^id: (\S+)$/gm)].map(([, found = '']) => found);
    expect(ids.length).toBeGreaterThan(1);
    const last = whole.slice(whole.lastIndexOf('event: message'));
    for (const each of ids) {
      const rest = await read(each);
      expect(rest).not.toContain(`id: ${each}\n`);
      expect(rest.endsWith(last)).toBe(true);
    }
    expect(readAnswer({ text: last, body: undefined })).toMatchObject({ id: 'a', result: { content: [{}] } });
  });

  it('a wrong Last-Event-ID is refused, and that of a run of another account', async () => {
    const resume = (lastEventId: string) => gateway.as().get('/mcp').set('Last-Event-ID', lastEventId);
    await resume('17').expect(400);
    const { id } = await gateway.createRun(undefined, await gateway.toKey('another'));
    const point = { runId: id, requestId: 1, progressToken: 1, isTask: false, until: null, seq: 1, units: 0 };
    await resume(writeEventId(point)).expect(404);
  });

  it('a cancellation stops nothing of another client, and nothing that has its answer', async () => {
    const started = await post(call('start_run', { input: 'x' }), { 'Mcp-Session-Id': 'one' });
    const { run_id: runId } = readAnswer(started).result?.['structuredContent'] as { run_id: 'run_' };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    await post(cancel, { 'Mcp-Session-Id': 'one' }).expect(202);
    await post(cancel).expect(202);
    expect(await gateway.read(runId as never)).toMatchObject({ status: 'queued', stop_requested_at: null });
  });

  it('a cancellation that comes before its call stops the run at once', async () => {
    const headers = { 'Mcp-Session-Id': 'early' };
    await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, headers).expect(202);
    const answer = readAnswer(await post(call('run_agent', { input: 'x' }), headers).expect(200));
    expect(answer.result).toMatchObject({ structuredContent: { status: 'stopped' } });
  });

  it('a cancellation of what never came is forgotten', async () => {
    const cancel = (requestId: number) =>
      post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }, { 'Mcp-Session-Id': 'mark' });
    const { sql } = gateway.database;
    const listMarks = () => sql.query<{ outer_id: string }>(`select outer_id from facade_ids where kind = 'cancelled'`);
    await cancel(1).expect(202);
    const before = await listMarks();
    await sql.query(`update facade_ids set created_at = now() - interval '11 minutes' where kind = 'cancelled'`);

    await cancel(2).expect(202);

    const after = await listMarks();
    expect(after).toHaveLength(1);
    expect(before).not.toContainEqual(after[0]);
  });
});

describe('since 2026-07-28', () => {
  it('says what it can without a handshake', async () => {
    const { result } = readAnswer(await post(newer('server/discover'), newerHeaders('server/discover')).expect(200));
    expect(result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      resultType: 'complete',
      ttlMs: 3_600_000,
      cacheScope: 'public',
      _meta: { [`${prefix}serverInfo`]: { name: 'rondo' } },
    });
  });

  it('an unknown method is 404, also one that is not served', async () => {
    const error = async (method: string) =>
      readAnswer(await post(newer(method), newerHeaders(method)).expect(404)).error;
    expect(await error('nope/x')).toMatchObject({ code: -32_601 });
    expect(await error('initialize')).toMatchObject({ code: -32_601 });
    expect(await error('subscriptions/listen')).toMatchObject({
      code: -32_601,
      message: 'subscriptions/listen is not served here: the list of tools never changes.',
    });
  });

  it('an unknown version is refused with those that there are', async () => {
    const headers = { ...newerHeaders('tools/list'), 'MCP-Protocol-Version': '2027-01-01' };
    const { error } = readAnswer(await post(newer('tools/list', {}, '2027-01-01'), headers).expect(400));
    expect(error).toMatchObject({ data: { supported: ['2026-07-28'], requested: '2027-01-01' } });
  });

  it.each([
    ['another version', 'ping', { 'MCP-Protocol-Version': '2025-11-25' }],
    ['no version', 'ping', { 'MCP-Protocol-Version': '' }],
    ['another method', 'ping', { 'Mcp-Method': 'tools/call' }],
    ['another name', 'tools/call', { 'Mcp-Name': 'stop_run' }],
    ['a broken name', 'tools/call', { 'Mcp-Name': '=?base64?%%%?=' }],
    ['no name', 'tools/call', {}],
  ])('headers with %s than the body are refused', async (_, method, headers) => {
    const message = method === 'ping' ? newer('tools/list') : newer(method, { name: 'get_run', arguments: {} });
    const of = method === 'ping' ? 'tools/list' : method;
    await post(message, newerHeaders(of, headers)).expect(400);
  });

  it('a name may be encoded', async () => {
    const name = `=?base64?${Buffer.from('get_run').toString('base64')}?=`;
    const { id } = await gateway.createRun();
    const message = newer('tools/call', { name: 'get_run', arguments: { run_id: id } });
    const { result } = readAnswer(await post(message, newerHeaders('tools/call', { 'Mcp-Name': name })).expect(200));
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { run_id: id } });
  });

  it('a state that was changed, or was given to another account, is refused', async () => {
    const headers = newerHeaders('tools/call', { 'Mcp-Name': 'run_agent' });
    const params = { name: 'run_agent', arguments: { input: 'Paint it.' } };
    const asking = post(newer('tools/call', params), headers).then(readAnswer);
    let run;
    while (!run) {
      const { body } = await gateway.as().get('/v1/runs?limit=1&status=queued&q=Paint');
      [run] = (body as { data: { id: never }[] }).data;
    }
    await (await worker.claim(run.id)).ask('Which colour?');
    const { result } = await asking;
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { answer: { method: 'elicitation/create', params: { message: 'Which colour?' } } },
    });
    const state = String(result?.['requestState']);
    const repeat = async (requestState: string, key?: string) => {
      const inputResponses = { answer: { action: 'accept', content: { answer: 'Blue.' } } };
      return readAnswer(await post(newer('tools/call', { ...params, requestState, inputResponses }), headers, key));
    };
    const another = await gateway.toKey('other account');
    for (const [wrong, key] of [[`${state}x`], ['v1.e30.x'], [state, another]] as const)
      expect((await repeat(wrong, key)).error).toMatchObject({ code: -32_602 });
    await gateway
      .as()
      .post(`/v1/runs/${String(run.id)}/input`)
      .send({ content: 'Red.' })
      .expect(202);
    expect((await repeat(state)).result).toMatchObject({ isError: true });
  });
});
