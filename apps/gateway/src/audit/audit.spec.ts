import { type Route, facadeRoutes } from '@rondo/contract/api';
import { nextEvent } from '../testing/next-event';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite({ TRUSTED_PROXY_HOPS: 1 });
const worker = TestWorker.forSuite(gateway);

const namesKey = 'The fact of the result names the key that gave it.';
const addsWork = 'It only adds work, which the log of its run keeps.';
/** Routes that write and are in no audit log, and why. What takes something away does not belong here. */
const notAudited = new Map([
  ['post /v1/runs', addsWork],
  ['post /v1/threads/{thread_id}/runs', addsWork],
  ['post /v1/runs/{run_id}/input', addsWork],
  ['post /v1/runs/{run_id}/tool-results', namesKey],
  ['post /v1/tool-calls/{tool_call_id}/result', namesKey],
  ['post /v1/threads', 'It adds an empty thread.'],
  ['post /v1/threads/{thread_id}/messages', 'It only adds a message, which names the time.'],
  ['post /v1/client-tokens', 'The list of tokens names who made each; a page takes one for every visitor.'],
  ['post /v1/files', 'It only adds a file, which stands in the list of files.'],
  ['post /v1/threads/{thread_id}/sandbox', 'It wakes a sandbox, as any call of a tool does.'],
  ['post /v1/sandboxes/{sandbox_id}/start', 'It wakes a sandbox, as any call of a tool does.'],
  ['post /oauth/connect', 'It has no caller; what it leads to is begun by a request that is recorded.'],
  ['post /v1/hooks/{trigger_id}', 'It has no caller; the executions of the trigger are listed.'],
]);

/** The same of façades, by their names. */
const readsByPost = /^(search|count|list|follow)/;
const addsByFacade = [
  ...[
    'sendA2a',
    'sendA2aAgent',
    'runAgUi',
    'runAgUiAgent',
    'sendAiSdkMessage',
    'sendMcpMessage',
    'commandLangGraphThread',
  ],
  ...[
    'createAnthropicSession',
    'sendAnthropicEvents',
    'addAnthropicResource',
    'uploadAnthropicFile',
    'uploadIiAgentFile',
  ],
  ...['createLangGraphThread', 'updateLangGraphState', 'createLangGraphRun', 'streamLangGraphRun', 'awaitLangGraphRun'],
  ...['createStatelessLangGraphRun', 'streamStatelessLangGraphRun', 'awaitStatelessLangGraphRun'],
  ...['createOpenAiResponse', 'createOpenAiConversation', 'createOpenAiItems', 'createOpenAiChatCompletion'],
  ...['initiateSunaAgent', 'startSunaRun', 'createSunaThread', 'addSunaMessage', 'startSunaAgent'],
];

const from = { 'X-Forwarded-For': '192.0.2.7' };
const entries = async (key = adminKey, query = '') =>
  (await gateway.as(key).get(`/v1/audit${query}`).expect(200)).body.data as Record<string, unknown>[];

async function tenant(): Promise<{ id: string; key: string }> {
  const { body } = await gateway.as().post('/v1/admin/accounts').set(from).send({ name: 'Tenant' }).expect(201);
  return { id: body.account.id, key: body.api_key };
}

describe('the audit log', () => {
  it('has who did what, to what, and from where, newest first', async () => {
    const { id: account, key } = await tenant();
    const { body: made } = await gateway
      .as(key)
      .post('/v1/api-keys')
      .set(from)
      .send({ name: 'a key', scopes: ['read'] })
      .expect(201);
    await gateway.as(key).delete(`/v1/api-keys/${made.id}`).set(from).expect(204);

    const act = { caller_id: expect.stringMatching(/^key_/), session_id: null, address: '192.0.2.7', problem: null };
    const done = { ...act, id: expect.stringMatching(/^aud_/), at: expect.any(String), outcome: 'done' };
    expect(await entries(key)).toEqual([
      { ...done, account_id: account, action: 'api_key.revoke', target: made.id },
      { ...done, account_id: account, action: 'api_key.create', target: made.id },
    ]);
    expect((await entries(adminKey, '?action=account.create'))[0]).toMatchObject({
      ...done,
      account_id: 'acc_admin',
      target: account,
    });
  });

  it('is filtered by caller, target, outcome and time', async () => {
    const { key } = await tenant();
    const { body: made } = await gateway
      .as(key)
      .post('/v1/api-keys')
      .send({ name: 'b', scopes: ['admin'] })
      .expect(201);
    await gateway.as(made.key).delete('/v1/api-keys/key_none').expect(404);
    const [refused, created] = await entries(key);
    const found = async (filter: object) => {
      const { body } = await gateway.as(key).get('/v1/audit').query(filter).expect(200);
      return (body.data as { id: string }[]).map(({ id }) => id);
    };

    expect(await found({ caller_id: made.id })).toEqual([refused?.['id']]);
    expect(await found({ target: made.id })).toEqual([created?.['id']]);
    expect(await found({ target: 'key_none', outcome: 'refused' })).toEqual([refused?.['id']]);
    expect(await found({ outcome: 'done' })).toEqual([created?.['id']]);
    expect(await found({ outcome: 'unknown' })).toEqual([]);
    expect(await found({ created_before: created?.['at'] })).toEqual([]);
    expect(await found({ created_from: refused?.['at'], caller_id: made.id })).toEqual([refused?.['id']]);
    await gateway.as(key).get('/v1/audit?outcome=maybe').expect(422);
  });

  it('has what was refused, and why', async () => {
    const { key } = await tenant();
    await gateway.as(key).delete('/v1/api-keys/key_none').expect(404);
    await gateway.as(key).post('/v1/api-keys').send({ name: 'a key', scopes: [] }).expect(422);

    expect(await entries(key)).toMatchObject([
      { action: 'api_key.create', target: null, outcome: 'refused', problem: 'invalid_request' },
      { action: 'api_key.revoke', target: 'key_none', outcome: 'refused', problem: 'api_key_not_found' },
    ]);
  });

  it('has stops over REST and over sockets, and repeats none', async () => {
    const { key } = await tenant();
    const [one, other] = [await gateway.createRun(undefined, key), await gateway.createRun(undefined, key)];
    const socket = gateway.socket(key);
    await nextEvent(socket, 'connect');
    await socket.emitWithAck('run.stop', { run_id: one.id });
    await socket.emitWithAck('run.stop', { run_id: 'run_none' });
    const stop = () => gateway.as(key).post(`/v1/runs/${other.id}/stop`).set('Idempotency-Key', 'once').send({});
    await stop().expect(202);
    await stop().expect(202);

    expect(await entries(key)).toMatchObject([
      { action: 'run.stop', target: other.id, outcome: 'done' },
      { action: 'run.stop', target: 'run_none', outcome: 'refused', problem: 'run_not_found' },
      { action: 'run.stop', target: one.id, outcome: 'done' },
    ]);
  });

  it('has budgets that were raised, over REST and over sockets', async () => {
    const { key } = await tenant();
    const run = await gateway.createRun({ input: 'Go.', budget: { usd: 1 } }, key);
    const socket = gateway.socket(key);
    await nextEvent(socket, 'connect');
    await gateway.as(key).post(`/v1/runs/${run.id}/budget`).send({ usd: 2 }).expect(202);
    await socket.emitWithAck('run.budget', { run_id: run.id, usd: 3 });

    expect(await entries(key)).toMatchObject([
      { action: 'run.budget', target: run.id, outcome: 'done' },
      { action: 'run.budget', target: run.id, outcome: 'done' },
    ]);
  });

  it('names the session of a browser, and the use of a link', async () => {
    const { key } = await tenant();
    const { body: link } = await gateway.as(key).post('/v1/session/links').send({}).expect(201);
    const { headers } = await gateway.anonymous.get(link.path).set(from).expect(303);
    const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
    await gateway.anonymous.delete('/v1/session').set({ cookie, 'Sec-Fetch-Site': 'same-origin' }).expect(204);

    const [ended, begun, made] = await entries(key);
    expect(ended).toMatchObject({ action: 'session.end', session_id: begun?.target, outcome: 'done' });
    expect(begun).toMatchObject({ action: 'session.create', address: '192.0.2.7', outcome: 'done' });
    expect(made).toMatchObject({ action: 'session_link.create', outcome: 'done' });
  });

  it('says so if the outcome of an act is unknown', async () => {
    const { key } = await tenant();
    const revoke = jest
      .spyOn(gateway.parts.accounts, 'revoke')
      .mockRejectedValueOnce(new Error('the connection broke'));
    await gateway.as(key).delete('/v1/api-keys/key_some').expect(500);
    revoke.mockRestore();

    expect(await entries(key)).toMatchObject([{ action: 'api_key.revoke', target: 'key_some', outcome: 'unknown' }]);
  });

  it('is read in pages', async () => {
    const { key } = await tenant();
    for (let times = 0; times < 3; times += 1) await gateway.as(key).delete(`/v1/api-keys/key_${times}`).expect(404);

    const { body: first } = await gateway.as(key).get('/v1/audit?limit=2').expect(200);
    const { body: rest } = await gateway.as(key).get(`/v1/audit?limit=2&after=${first.next_cursor}`).expect(200);
    const targets = [...first.data, ...rest.data].map(({ target }: { target: string }) => target);
    expect([targets, rest.has_more]).toEqual([['key_2', 'key_1', 'key_0'], false]);
  });

  it('has the deletion of a thread and of files, forks, and writes into workspaces', async () => {
    const { key } = await tenant();
    const api = gateway.as(key);
    const run = await gateway.createRun(undefined, key);
    const { body: file } = await api.post('/v1/files').attach('file', Buffer.from('text'), 'a.txt').expect(201);
    const content = '/v1/sandboxes/sbx_none/files/content?path=a.txt';

    await api.post(`/v1/runs/${run.id}/fork`).send({ at_seq: 1, input: 'Go on.' }).expect(202);
    await api.delete(`/v1/files/${file.id}`).expect(204);
    await api.put(content).set('Content-Type', 'application/octet-stream').send('text').expect(404);
    await api.delete('/v1/sandboxes/sbx_none/files?path=a.txt').expect(404);
    await api.post('/v1/sandboxes/sbx_none/stop').send().expect(404);
    await api.delete('/v1/sandboxes/sbx_none').expect(404);
    await api.delete(`/v1/threads/${run.thread_id}`).expect(409); // its run is active

    expect((await entries(key)).map(({ action, target, outcome }) => [action, target, outcome]).toReversed()).toEqual([
      ['run.fork', run.id, 'done'],
      ['file.delete', file.id, 'done'],
      ['sandbox_file.write', 'sbx_none', 'refused'],
      ['sandbox_file.delete', 'sbx_none', 'refused'],
      ['sandbox.stop', 'sbx_none', 'refused'],
      ['sandbox.delete', 'sbx_none', 'refused'],
      ['thread.delete', run.thread_id, 'refused'],
    ]);
  });

  it('has every route that changes or deletes something, but those that add work', async () => {
    const { body } = await gateway.anonymous.get('/openapi.json').expect(200);
    const unaudited = Object.entries(body.paths as Record<string, Record<string, object>>).flatMap(
      ([path, operations]) =>
        Object.entries(operations).flatMap(([method, operation]) =>
          method === 'get' || 'x-audit' in operation ? [] : [`${method} ${path}`],
        ),
    );
    expect(unaudited.toSorted()).toEqual([...notAudited.keys()].toSorted());
  });

  it('has every such route of façades', () => {
    const unaudited = Object.values<Route>(facadeRoutes).filter(
      ({ id, method, audit }) => method !== 'GET' && audit === undefined && !readsByPost.test(id),
    );
    expect(unaudited.map(({ id }) => id).toSorted()).toEqual(addsByFacade.toSorted());
  });

  it('has what becomes of environments, and of threads that are called sessions', async () => {
    const { key } = await tenant();
    const api = gateway.as(key);
    const { thread_id: thread } = await gateway.createRun(undefined, key);
    const { body: made } = await api.post('/anthropic/v1/environments').send({ name: 'usual' }).expect(200);
    const path = `/anthropic/v1/environments/${made.id}`;
    await api
      .post(path)
      .send({ config: { type: 'cloud', networking: { type: 'unrestricted' } } })
      .expect(200);
    await api.post(`${path}/archive`).send({}).expect(200);
    await api.delete(path).expect(200);
    await api
      .patch(`/langgraph/threads/${thread}`)
      .send({ metadata: { team: 'a' } })
      .expect(200);
    await api.post(`/anthropic/v1/sessions/${thread}/archive`).send({}).expect(409); // its run is active

    expect((await entries(key)).map(({ action, target, outcome }) => [action, target, outcome]).toReversed()).toEqual([
      ['environment.create', made.id, 'done'],
      ['environment.change', made.id, 'done'],
      ['environment.archive', made.id, 'done'],
      ['environment.delete', made.id, 'done'],
      ['thread.change', thread, 'done'],
      ['thread.archive', thread, 'refused'],
    ]);
  });
});

describe('attack: tenants', () => {
  it('reads the audit log of others, or without being an admin', async () => {
    const { key } = await tenant();
    const { body: writer } = await gateway
      .as(key)
      .post('/v1/api-keys')
      .send({ name: 'w', scopes: ['write'] })
      .expect(201);

    await gateway.as(writer.key).get('/v1/audit').expect(403);
    expect(await entries(await gateway.toKey('stranger'))).toEqual([]);
  });

  it('blinds the audit log by what a page does with its client token', async () => {
    const { key } = await tenant();
    const run = await gateway.createRun({ input: 'Go.', user: 'ann' }, key);
    const { body: token } = await gateway
      .as(key)
      .post('/v1/client-tokens')
      .send({ user: 'ann', scopes: ['send'] })
      .expect(201);
    await gateway.as(token.token).post(`/v1/runs/${run.id}/stop`).send({}).expect(202);

    const stopped = [expect.objectContaining({ action: 'run.stop', target: run.id, caller_id: token.id })];
    expect(await entries(key)).toEqual(stopped);
    expect(await entries(key, `?caller_id=${token.id}`)).toEqual(stopped);
  });

  it('decides about a call, or stops a run, through another protocol, and is in no audit log', async () => {
    const { key } = await tenant();
    const send = (path: string, body: object) => gateway.as(key).post(path).set(from).send(body).expect(200);
    const toA2a = (method: string, params: object) => send('/a2a', { jsonrpc: '2.0', id: 1, method, params });
    const ask = async () => {
      const run = await gateway.createRun(undefined, key);
      const [approval] = await (await worker.claim(run.id)).requestApprovals();
      return { run, approval };
    };
    const [first, second, third] = [await ask(), await ask(), await ask()];

    await toA2a('SendMessage', {
      message: {
        ...{ role: 'ROLE_USER', messageId: 'm1', taskId: first.run.id },
        parts: [{ data: { approval_id: first.approval, approved: true } }],
      },
      configuration: { returnImmediately: true },
    });
    await toA2a('CancelTask', { id: second.run.id });
    await send(`/anthropic/v1/sessions/${third.run.thread_id}/events`, { events: [{ type: 'user.interrupt' }] });

    const act = { address: '192.0.2.7', outcome: 'done' };
    expect((await entries(key)).toReversed()).toMatchObject([
      { ...act, action: 'approval.decide', target: first.approval },
      { ...act, action: 'run.stop', target: second.run.id },
      { ...act, action: 'run.stop', target: third.run.id },
    ]);
  });

  it('looks for secrets in the audit log', async () => {
    const { key } = await tenant();
    const { body: made } = await gateway
      .as(key)
      .post('/v1/api-keys')
      .send({ name: 'a secret name', scopes: ['read'] })
      .expect(201);

    const stored = JSON.stringify(await gateway.ownerDatabase.sql.query('select * from audit_entries'));
    for (const secret of [key, made.key, 'a secret name']) expect(stored).not.toContain(secret);
  });

  it('changes or deletes entries with the rights of the gateway, or even of the owner', async () => {
    await tenant();
    const { sql } = gateway.database;
    for (const statement of [
      `delete from audit_entries`,
      `update audit_entries set caller_id = 'key_other'`,
      `update audit_entries set target = null`,
    ]) {
      await expect(sql.query(statement)).rejects.toThrow('permission denied');
    }
    const done = `update audit_entries set outcome = '{"target": null, "problem": "forbidden"}'`;
    await expect(sql.query(done)).rejects.toThrow('does not change');
    await expect(gateway.ownerDatabase.sql.query(`update audit_entries set caller_id = 'key_other'`)).rejects.toThrow(
      'does not change',
    );
  });
});
