import { RunningGateway } from '../testing/running-gateway';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await RunningGateway.start();
});
afterAll(() => gateway.close());

const api = () => gateway.as();

async function newThread(metadata = {}): Promise<string> {
  const { body } = await api().post('/v1/threads').send({ metadata }).expect(201);
  return body.id as string;
}

describe('threads over REST', () => {
  it('are created, read, listed newest first in pages, and deleted', async () => {
    const [first, second, third] = [await newThread({ topic: 'birds' }), await newThread(), await newThread()];

    const read = await api().get(`/v1/threads/${first}`).expect(200);
    expect(read.body).toEqual({
      ...{ id: first, agent_id: null, project_id: null, is_public: false },
      ...{ metadata: { topic: 'birds' }, created_at: expect.any(String) },
    });

    const page = await api().get('/v1/threads?limit=2').expect(200);
    expect((page.body.data as { id: string }[]).map(({ id }) => id)).toEqual([third, second]);
    expect(page.body.has_more).toBe(true);
    const next = await api().get(`/v1/threads?limit=2&after=${page.body.next_cursor}`).expect(200);
    expect(next.body).toMatchObject({ data: [{ id: first }], has_more: false, next_cursor: null });

    await api().delete(`/v1/threads/${first}`).expect(204);
    await api().get(`/v1/threads/${first}`).expect(404);
    await api().get(`/v1/threads/${first}/messages`).expect(404);
    await api().post(`/v1/threads/${first}/messages`).send({ content: 'Hello?' }).expect(404);
    await api().post(`/v1/threads/${first}/runs`).send({ input: 'Hello?' }).expect(404);
    await api().post('/v1/runs').send({ thread_id: first, input: 'Hello?' }).expect(404);
  });

  it('answer with the Location of a new thread', async () => {
    const made = await api().post('/v1/threads').expect(201);

    expect(made.headers['location']).toBe(`/v1/threads/${made.body.id}`);
  });

  it('are not deleted while a run is active on them', async () => {
    const run = await gateway.createRun();

    const { body } = await api().delete(`/v1/threads/${run.thread_id}`).expect(409);
    expect(body).toMatchObject({ code: 'thread_busy', active_run_id: run.id });
  });
});

describe('messages over REST', () => {
  it('are added as text or blocks, and listed in thread order with filters', async () => {
    const thread = await newThread();
    const blocks = [
      { type: 'text', text: 'Look:' },
      { type: 'image', source: { type: 'url', url: 'https://example.com/bird.png' } },
    ];
    await api().post(`/v1/threads/${thread}/messages`).send({ content: 'Hello.' }).expect(201);
    await api().post(`/v1/threads/${thread}/messages`).send({ content: blocks }).expect(201);

    const all = await api().get(`/v1/threads/${thread}/messages`).expect(200);
    expect(all.body.data).toMatchObject([
      { seq: 1, type: 'user', is_llm_message: true, run_id: null, content: [{ type: 'text', text: 'Hello.' }] },
      { seq: 2, type: 'user', content: blocks },
    ]);

    const page = await api().get(`/v1/threads/${thread}/messages?limit=1`).expect(200);
    const next = await api().get(`/v1/threads/${thread}/messages?limit=1&after=${page.body.next_cursor}`).expect(200);
    expect(next.body).toMatchObject({ data: [{ seq: 2 }], has_more: false });

    const none = await api().get(`/v1/threads/${thread}/messages?type=summary&llm_only=true`).expect(200);
    expect(none.body.data).toEqual([]);
    const dialogue = await api().get(`/v1/threads/${thread}/messages?type=user&llm_only=true`).expect(200);
    expect(dialogue.body.data).toHaveLength(2);
  });
});
