import type { SunaRow } from '@rondo/contract/api';
import type { Thread } from '@rondo/persistence';
import { RunningGateway } from '../../testing/running-gateway';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await RunningGateway.start({ MODEL_ALIASES: '{"coder": "demo/coder"}' });
});
afterAll(() => gateway.close());

async function createThread(): Promise<Thread> {
  return (await gateway.as().post('/v1/threads').send({}).expect(201)).body as Thread;
}

describe("Suna's messages of a thread", () => {
  it('are the newest thousand, the oldest of them first', async () => {
    const { id } = await createThread();
    await gateway.ownerDatabase.sql.query(
      `insert into messages (id, thread_id, seq, type, is_llm_message, content, created_at)
       select 'msg_' || n, $1, n, 'user', true, json_build_array(json_build_object('type', 'text', 'text', n::text)), now()
       from generate_series(1, 1030) as n`,
      [id],
    );
    const { body } = await gateway.as().get(`/suna/api/threads/${id}/messages`).expect(200);
    const { messages } = body as { messages: SunaRow[] };

    expect(messages.map(({ message_id }) => message_id)).toEqual(
      Array.from({ length: 1_000 }, (_, index) => `msg_${index + 31}`),
    );
  });
});

describe("Suna's name of a model", () => {
  it('may be a short name of the deployment', async () => {
    const { id } = await createThread();
    await gateway.as().post(`/v1/threads/${id}/messages`).send({ content: 'Go.' }).expect(201);
    const { body } = await gateway
      .as()
      .post(`/suna/api/thread/${id}/agent/start`)
      .send({ model_name: 'coder' })
      .expect(200);
    const run = (await gateway.as().get(`/v1/runs/${body.agent_run_id}`).expect(200)).body;

    expect(run.model).toBe('demo/coder');
  });
});
