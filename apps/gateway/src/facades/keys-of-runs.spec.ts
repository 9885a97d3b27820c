import { type Run, modelCallId } from '@rondo/contract';
import { newUlid } from '@rondo/platform';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

type Api = ReturnType<RunningGateway['as']>;

/** The keys that the usage of the newest run counts for. */
async function listCharged(api: Api): Promise<readonly (string | null)[]> {
  const { body } = await api.get('/v1/runs?limit=1').expect(200);
  const { id } = (body as { data: Run[] }).data[0] as Run;
  const run = await worker.claim(id);
  const call = {
    ...{ model_call_id: modelCallId.parse(`mdl_${newUlid()}`), model: 'demo/coder', finish_reason: 'stop' },
    ...{ input_tokens: 3, cached_tokens: 0, output_tokens: 1, cost_usd: 0.25, estimated: false },
    ...{ duration_ms: 1, first_token_ms: null },
  };
  await run.append([{ type: 'usage.recorded', iteration: 1, data: call }]);
  await run.complete();
  const { body: usage } = await api.get(`/v1/usage?group_by=key&run_id=${id}`).expect(200);
  return (usage as { data: { key_id: string | null }[] }).data.map(({ key_id: key }) => key);
}

const post = async (api: Api, path: string, body: object = {}) =>
  (await api.post(path).send(body)).body as { id: string };

const said = [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }];

/** What begins a run, where that takes more than one request. */
const beginnings: readonly (readonly [string, (api: Api) => Promise<unknown>])[] = [
  ['a response of OpenAI', (api) => post(api, '/openai/v1/responses', { input: 'Go.', background: true })],
  [
    'a session of Claude Managed Agents, and a message to it',
    async (api) => {
      const agent = await post(api, '/anthropic/v1/agents', { name: 'Coder', model: 'demo/coder' });
      const { id: environment_id } = await post(api, '/anthropic/v1/environments', { name: 'usual' });
      const session = await post(api, '/anthropic/v1/sessions', { agent: agent.id, environment_id });
      await post(api, `/anthropic/v1/sessions/${session.id}/events`, { events: said });
    },
  ],
  [
    'a session that begins with a message',
    async (api) => {
      const agent = await post(api, '/anthropic/v1/agents', { name: 'Coder', model: 'demo/coder' });
      const { id: environment_id } = await post(api, '/anthropic/v1/environments', { name: 'usual' });
      await post(api, '/anthropic/v1/sessions', { agent: agent.id, environment_id, initial_events: said });
    },
  ],
  [
    'a schedule that is run now',
    async (api) => {
      const schedule = { name: 'daily', cron: '0 9 * * *', time_zone: 'UTC', run: { input: 'Go.' } };
      const { id } = await post(api, '/v1/schedules', schedule);
      await post(api, `/v1/schedules/${id}/run`);
    },
  ],
];

describe('the usage of a run', () => {
  it.each(beginnings)('counts for the key that began it: %s', async (_, begin) => {
    const api = gateway.as(await gateway.toKey(`customer ${newUlid()}`));
    await api.post('/v1/runs').send({ input: 'Go.' }).expect(202);
    const own = await listCharged(api);
    expect(own).toEqual([expect.any(String)]);
    await begin(api);
    expect(await listCharged(api)).toEqual(own);
  });
});
