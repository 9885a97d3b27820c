import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite();

const post = (key: string, body: object = { input: 'Go.' }, path = '/v1/runs') =>
  gateway.as().post(path).set('Idempotency-Key', key).send(body);

describe('Idempotency-Key', () => {
  it('replays the first response, and does nothing', async () => {
    const first = await post('once').expect(202);
    const again = await post('once').expect(202);

    expect(again.body).toEqual(first.body);
    expect(again.headers['location']).toBe(first.headers['location']);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  it('creates one run for twenty requests at once; the others are in flight or replayed', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('storm')));

    const made = answers.filter(({ status }) => status === 202);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    for (const { body, headers } of answers.filter(({ status }) => status !== 202)) {
      expect(body).toMatchObject({ status: 409, code: 'idempotency_in_flight' });
      expect(headers['retry-after']).toBe('1');
    }
  });

  it.each([
    ['/v1/runs', { input: 'Go.' }, 202],
    ['/v1/threads', {}, 201],
  ])(
    'creates one resource by POST %s, even if the gateway dies before it has stored the response',
    async (path, body, status) => {
      const { idempotencyKeys } = gateway.parts;
      jest.spyOn(idempotencyKeys, 'finish').mockRejectedValueOnce(new Error('killed'));
      const first = await post(`killed ${path}`, body, path).expect(status);

      const again = await post(`killed ${path}`, body, path).expect(status);
      expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', location: first.headers['location'] });
      expect(again.body).toEqual(first.body);
    },
  );

  it('refuses the key for another body or another path', async () => {
    const { body: run } = await post('taken').expect(202);

    expect((await post('taken', { input: 'Stop.' }).expect(422)).body.code).toBe('idempotency_key_reused');
    expect((await post('taken', { input: 'Go.' }, '/v1/threads').expect(422)).body.code).toBe('idempotency_key_reused');
    await post('taken', {}, `/v1/runs/${run.id}/stop`).expect(422);
  });

  it('does not store a refusal: the request can be corrected', async () => {
    await post('repaired', { inputs: 'Go.' }).expect(422);

    await post('repaired').expect(202);
  });

  it('does not store a conflict with an active run either', async () => {
    const { thread_id } = await gateway.createRun();
    const path = `/v1/threads/${thread_id}/runs`;

    expect((await post('busy', { input: 'Go.' }, path).expect(409)).body.code).toBe('thread_busy');
    expect((await post('busy', { input: 'Go.' }, path).expect(409)).body.code).toBe('thread_busy');
  });

  it('stays claimed after an internal error, whose outcome is unknown', async () => {
    jest.spyOn(gateway.parts.runs, 'create').mockRejectedValueOnce(new Error('lost'));
    await post('lost').expect(500);

    expect((await post('lost').expect(409)).body.code).toBe('idempotency_in_flight');
  });

  it('belongs to its account', async () => {
    const first = await post('shared').expect(202);
    const stranger = await gateway.toKey('stranger');
    const other = await gateway.as(stranger).post('/v1/runs').set('Idempotency-Key', 'shared').send({ input: 'Go.' });

    expect(other.status).toBe(202);
    expect(other.body.id).not.toBe(first.body.id);
  });

  it('replays the status too', async () => {
    const { body: run } = await post('made').expect(202);
    await post('stopped', {}, `/v1/runs/${run.id}/stop`).expect(202);

    const late = await post('late', {}, `/v1/runs/${run.id}/stop`).expect(200);
    expect((await post('late', {}, `/v1/runs/${run.id}/stop`).expect(200)).body).toEqual(late.body);
  });

  it('means the same for a body whose names come in another order', async () => {
    const first = await post('ordered', { input: 'Go.', metadata: { a: '1', b: '2' } }).expect(202);
    const again = await post('ordered', { metadata: { b: '2', a: '1' }, input: 'Go.' }).expect(202);

    expect(again.body).toEqual(first.body);
  });

  it('stays with a request that takes long, as long as its gateway lives', async () => {
    const { runs, keysInFlight } = gateway.parts;
    const create = runs.create.bind(runs);
    const begun = new Promise<() => void>((began) => {
      jest.spyOn(runs, 'create').mockImplementationOnce(async (run) => {
        await new Promise<void>((goOn) => began(goOn));
        return create(run);
      });
    });
    const first = post('slow').then((answer) => answer);
    const goOn = await begun;
    await gateway.ownerDatabase.sql.query(
      `update idempotency_keys set created_at = created_at - interval '11 s' where key = 'slow'`,
    );
    await keysInFlight.renew();

    expect((await post('slow').expect(409)).body.code).toBe('idempotency_in_flight');
    goOn();
    expect((await first).status).toBe(202);
    expect((await post('slow').expect(202)).body.id).toBe((await first).body.id);
  });

  it('makes one API key, shows its secret once and stores it nowhere (I12)', async () => {
    const wish = { name: 'made once', scopes: ['read'] };
    const { body: made } = await post('secret', wish, '/v1/api-keys').expect(201);
    const { body: refused } = await post('secret', wish, '/v1/api-keys').expect(409);
    const { body: other } = await post('secret', { ...wish, name: 'other' }, '/v1/api-keys').expect(422);

    expect([refused.code, refused.resource]).toEqual(['idempotency_key_used', `/v1/api-keys/${made.id}`]);
    expect(other.code).toBe('idempotency_key_reused');
    const { body: keys } = await gateway.as().get('/v1/api-keys').expect(200);
    expect((keys.data as { name: string }[]).filter(({ name }) => name === wish.name)).toHaveLength(1);
    const rows = await gateway.ownerDatabase.sql.query('select row_to_json(k)::text as row from idempotency_keys as k');
    expect(JSON.stringify(rows)).not.toContain(made.key);
  });

  it('names the account that was made, and lets a refused request be corrected', async () => {
    const { body: made } = await post('account', { name: 'once' }, '/v1/admin/accounts').expect(201);
    const { body: refused } = await post('account', { name: 'once' }, '/v1/admin/accounts').expect(409);

    expect(refused.resource).toBe(`/v1/admin/accounts/${made.account.id}`);
    await post('wrong', { names: 'x' }, '/v1/admin/accounts').expect(422);
    await post('wrong', { name: 'right' }, '/v1/admin/accounts').expect(201);
  });

  it('never carries out again what has a secret when the outcome of the first request is unknown', async () => {
    const wish = { name: 'lost', scopes: ['read'] };
    jest.spyOn(gateway.parts.accounts, 'createKey').mockRejectedValueOnce(new Error('lost'));
    await post('lost key', wish, '/v1/api-keys').expect(500);
    expect((await post('lost key', wish, '/v1/api-keys').expect(409)).body.code).toBe('idempotency_in_flight');
    await gateway.ownerDatabase.sql.query(
      `update idempotency_keys set created_at = created_at - interval '11 s' where key = 'lost key'`,
    );

    expect((await post('lost key', wish, '/v1/api-keys').expect(409)).body.code).toBe('idempotency_key_used');
  });

  it('must be printable', async () => {
    const { body } = await post('x'.repeat(300)).expect(422);

    expect(body.errors).toEqual([{ field: 'Idempotency-Key', message: expect.any(String) }]);
  });
});
