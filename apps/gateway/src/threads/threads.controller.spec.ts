import { type ContentBlock, type MessageType, type NewFact, callId, messageId } from '@rondo/contract';
import { newUlid } from '@rondo/platform';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();

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
      ...{ id: first, agent_id: null, project_id: null, user: null, is_public: false },
      ...{ title: null, preview: null, newest_run: null },
      ...{ metadata: { topic: 'birds' }, created_at: expect.any(String), updated_at: expect.any(String) },
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

  it('are found by their metadata, of the account alone, with the other filters and in pages', async () => {
    const key = await gateway.toKey('finder');
    const create = async (body: object, by = key) =>
      (await gateway.as(by).post('/v1/threads').send(body).expect(201)).body.id as string;
    const { body: project } = await gateway.as(key).post('/v1/projects').send({ name: 'Red' }).expect(201);
    const red = await create({ metadata: { device: 'a"b', note: 'team' } });
    const inProject = await create({ metadata: { device: 'a"b' }, project_id: project.id });
    await create({ metadata: { device: 'other', 'x.y-z_1': '"device":"no"' } });
    await create({ metadata: { device: 'a"b' } }, await gateway.toKey('another'));
    const found = async (query: object) => {
      const { body } = await gateway.as(key).get('/v1/threads').query(query).expect(200);
      return body as { data: { id: string }[]; next_cursor: string | null };
    };
    const readIds = async (query: object) => (await found(query)).data.map(({ id }) => id);
    const ofDevice = { metadata_key: 'device', metadata_value: 'a"b' };

    expect(await readIds(ofDevice)).toEqual([inProject, red]);
    expect(await readIds({ ...ofDevice, project_id: project.id })).toEqual([inProject]);
    const { next_cursor: after } = await found({ ...ofDevice, limit: 1 });
    expect(await readIds({ ...ofDevice, limit: 1, after })).toEqual([red]);
    expect(await readIds({ metadata_key: 'device', metadata_value: 'no' })).toEqual([]);
    expect(await readIds({ metadata_key: 'evi', metadata_value: 'a"b' })).toEqual([]);
    await gateway.as(key).delete(`/v1/threads/${red}`).expect(204);
    expect(await readIds(ofDevice)).toEqual([inProject]);
  });

  it('say what was asked first, and how their newest run is, in the list itself', async () => {
    const as = gateway.as(await gateway.toKey('lister'));
    const { body: run } = await as
      .post('/v1/runs')
      .send({ input: 'Write a poem. '.repeat(20) })
      .expect(202);
    await as.post('/v1/runs').send({ input: 'And one more.', thread_id: run.thread_id, on_active_run: 'queue' });
    const { body: spoken } = await as.post('/v1/threads').send({ title: ' Notes ' }).expect(201);
    await as.post(`/v1/threads/${spoken.id}/messages`).send({ content: 'Remember the milk.' }).expect(201);

    const { body } = await as.get('/v1/threads').expect(200);
    expect(body.data).toMatchObject([
      { id: spoken.id, title: 'Notes', preview: 'Remember the milk.', newest_run: null },
      {
        ...{ id: run.thread_id, title: null, preview: run.preview },
        newest_run: { status: 'queued', finish_reason: null, model: run.model, agent_name: null },
      },
    ]);
    expect(body.data[1].newest_run.id).not.toBe(run.id);
    expect((await as.get(`/v1/threads/${run.thread_id}`).expect(200)).body).toEqual(body.data[1]);
  });

  it('are renamed, and found by words of the title or of what was asked, of the account alone', async () => {
    const as = gateway.as(await gateway.toKey('renamer'));
    const begun = async (input: string) =>
      (await as.post('/v1/runs').send({ input }).expect(202)).body.thread_id as string;
    const [poem, tax] = [await begun('Write a poem about leaves.'), await begun('Add up the invoices.')];
    const rename = (id: string, title: unknown) => as.patch(`/v1/threads/${id}`).send({ title });
    const found = async (q: string, by = as) =>
      ((await by.get('/v1/threads').query({ q }).expect(200)).body.data as { id: string }[]).map(({ id }) => id);

    const { body } = await rename(tax, 'Tax of 2026, leaves out nothing').expect(200);
    expect(body).toMatchObject({ id: tax, title: 'Tax of 2026, leaves out nothing', is_public: false });
    expect(await found('leaves')).toEqual([tax, poem]);
    expect(await found('tax')).toEqual([tax]);
    expect(await found('invoices -tax')).toEqual([tax]);
    expect(await found('-')).toEqual([]);
    expect(await found('leaves', gateway.as(await gateway.toKey('stranger')))).toEqual([]);

    expect((await rename(tax, null).expect(200)).body.title).toBeNull();
    expect(await found('tax')).toEqual([]);
    const { body: refusal } = await rename(tax, undefined).expect(422);
    expect(refusal.errors).toEqual([{ field: 'title', message: 'give title, is_public or metadata' }]);
    await rename(tax, 'x'.repeat(201)).expect(422);
  });

  it.each([
    ['metadata_key=device', 'metadata_key'],
    ['metadata_value=x', 'metadata_key'],
    ['metadata_key=a%22b&metadata_value=x', 'metadata_key'],
    [`metadata_key=a&metadata_value=${'x'.repeat(513)}`, 'metadata_value'],
    ['metadata[device]=x', 'metadata'],
  ])('are not listed by ?%s', async (query, field) => {
    const { body } = await api().get(`/v1/threads?${query}`).expect(422);
    expect(JSON.stringify(body.errors)).toContain(`"field":"${field}`);
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

    const { body: sent } = await api().get(`/v1/threads/${thread}/llm-messages`).expect(200);
    expect(sent).toEqual({ data: [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }, ...blocks] }] });

    const none = await api().get(`/v1/threads/${thread}/messages?type=summary&llm_only=true`).expect(200);
    expect(none.body.data).toEqual([]);
    const dialogue = await api().get(`/v1/threads/${thread}/messages?type=user&llm_only=true`).expect(200);
    expect(dialogue.body.data).toHaveLength(2);
  });
});

describe('the messages of a thread for a model', () => {
  it('have the calls of its runs with their results, and nothing else', async () => {
    const run = await gateway.createRun({ input: 'List the files.' });
    const worker = await TestWorker.start(gateway.database);
    const claimed = await worker.claim(run.id);
    const { threadId: thread_id, runId: run_id } = claimed.claim;
    const call = callId.parse(`call_${newUlid()}`);
    const name = 'execute_command';
    const made = (type: MessageType, content: ContentBlock[], is_llm_message = true): NewFact => {
      const id = messageId.parse(`msg_${newUlid()}`);
      const message = { id, thread_id, run_id, iteration: 1, type, is_llm_message, content, metadata: {} };
      return { type: 'message.created', iteration: 1, data: { message } };
    };
    const result = { success: true, output: 'a.txt' };
    await claimed.append([
      made('assistant', [
        { type: 'reasoning', text: 'Which command?' },
        { type: 'tool_call', tool_call_id: call, name, arguments: { command: 'ls' } },
      ]),
      made('tool', [{ type: 'tool_result', tool_call_id: call, name, result }]),
      made('status', [{ type: 'text', text: 'For people only.' }], false),
      made('assistant', [{ type: 'text', text: 'There is a.txt.' }]),
    ]);
    await worker.close();

    const path = `/v1/threads/${thread_id}/llm-messages`;
    const { body } = await api().get(path).expect(200);

    expect(body).toEqual({
      data: [
        { role: 'user', content: [{ type: 'text', text: 'List the files.' }] },
        { role: 'assistant', content: [{ type: 'tool_call', id: call, name, arguments: { command: 'ls' } }] },
        { role: 'tool', results: [{ tool_call_id: call, text: 'a.txt', is_error: false }] },
        { role: 'assistant', content: [{ type: 'text', text: 'There is a.txt.' }] },
      ],
    });
    await gateway
      .as(await gateway.toKey('stranger'))
      .get(path)
      .expect(404);
    await gateway.anonymous.get(path).expect(401);
    const shared = `/v1/public/threads/${thread_id}/llm-messages`;
    await gateway.anonymous.get(shared).expect(404);
    await api().patch(`/v1/threads/${thread_id}`).send({ is_public: true }).expect(200);
    expect((await gateway.anonymous.get(shared).expect(200)).body).toEqual(body);
    await api().get(`${path}?limit=1`).expect(422);
  });
});
