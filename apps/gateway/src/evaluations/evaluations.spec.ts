import { RunningGateway } from '../testing/running-gateway';

const result = (task_id: string, verdict = 'right', more = {}) => ({
  ...{ task_id, verdict, run_id: null, prediction: 'Paris', expected: 'Paris', error: null, level: null },
  ...{ cost_usd: 0.5, duration_s: 1, ...more },
});

describe('evaluations', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await RunningGateway.start();
  });
  afterAll(() => gateway.close());

  const store = (name: string, results: readonly object[], more = {}) =>
    gateway
      .as()
      .put(`/v1/evaluations/by-name/${name}`)
      .send({ ...more, results });

  it('are stored under a name with a summary, read with their results, and deleted', async () => {
    const results = [
      result('a'),
      result('b', 'wrong', { error: 'It ended.', prediction: null, cost_usd: null }),
      result('c', 'unjudged'),
      result('d', 'unknown'),
    ];
    const { body: stored } = await store('before', results, { agent: 'plain', model: 'demo/plain' }).expect(200);
    const counts = { tasks: 4, scored: 2, right: 1, unjudged: 1, errors: 1, cost_usd: 1.5 };
    expect(stored).toMatchObject({ name: 'before', agent: 'plain', model: 'demo/plain', ...counts });
    const address = `/v1/evaluations/${stored.id}`;
    expect((await gateway.as().get(address).expect(200)).body).toEqual({ ...stored, results });

    const { body: again } = await store('before', [result('a', 'wrong')]).expect(200);
    expect(again).toMatchObject({ id: stored.id, created_at: stored.created_at, tasks: 1, right: 0, model: null });
    const { body: second } = await store('after', [result('a')]).expect(200);
    const { body: list } = await gateway.as().get('/v1/evaluations').expect(200);
    expect(list.data).toEqual([second, again]);

    await gateway.as().delete(address).expect(204);
    expect((await gateway.as().get(address).expect(404)).body.code).toBe('evaluation_not_found');
    await gateway.as().delete(address).expect(404);
  });

  it('name the field that is refused', async () => {
    const refusal = async (results: readonly object[], name = 'refused') =>
      JSON.stringify((await store(name, results).expect(422)).body.errors);

    expect(await refusal([])).toContain('results');
    expect(await refusal([result('a'), result('a')])).toContain('names a task twice');
    expect(await refusal([result('a', 'maybe')])).toContain('results.0.verdict');
    expect(await refusal([result('a', 'right', { run_id: 'x' })])).toContain('results.0.run_id');
    expect(await refusal([result('a')], 'a%20b')).toContain('name');
  });
});
