import { RunningGateway } from '../testing/running-gateway';

const gateway = RunningGateway.forSuite({ MEMORY_BUDGET_BYTES: 16 * 1024 * 1024 });

const post = (path = '/v1/runs', key?: string) => gateway.as(key).post(path);
const readMessages = async (thread: string) =>
  (await gateway.as().get(`/v1/threads/${thread}/messages`).expect(200)).body.data as { content: { text: string }[] }[];
const filesLeft = async () => {
  const files = await gateway.ownerDatabase.sql.query<{ name: string }>('select name from files order by name');
  return files.map(({ name }) => name);
};
/** Waits until the database no longer has it: files of a refused request are deleted after its response. */
const isGone = async (name: string): Promise<void> => {
  while ((await filesLeft()).includes(name));
};

describe('a run as a form', () => {
  it('begins with its input and its files', async () => {
    const { body: run } = await post()
      .field('input', 'Sum it up.')
      .field('body', JSON.stringify({ model: 'demo/plain', metadata: { team: 'red' } }))
      .attach('files', Buffer.from('a,b'), 'sales.csv')
      .attach('files', Buffer.from('c,d'), 'costs.csv')
      .expect(202);

    expect(run).toMatchObject({ model: 'demo/plain', preview: 'Sum it up.', metadata: { team: 'red' } });
    const [message] = await readMessages(run.thread_id);
    expect(message?.content.map(({ text }) => text)).toEqual([
      'Sum it up.',
      '[Uploaded File: /workspace/sales.csv]\n[Uploaded File: /workspace/costs.csv]',
    ]);
    expect(await filesLeft()).toEqual(expect.arrayContaining(['costs.csv', 'sales.csv']));
  });

  it('begins on a thread, and without files', async () => {
    const { body: thread } = await gateway.as().post('/v1/threads').send({}).expect(201);
    const { body: run } = await post(`/v1/threads/${thread.id}/runs`).field('input', 'Hello.').expect(202);
    expect(run).toMatchObject({ thread_id: thread.id, preview: 'Hello.' });
  });

  it('begins once for one Idempotency-Key, and keeps the files of the first request', async () => {
    const send = (content: string) =>
      post().set('Idempotency-Key', 'form').field('input', 'Once.').attach('files', Buffer.from(content), `once.txt`);
    const { body: first } = await send('same').expect(202);
    const { body: again, headers } = await send('same').expect(202);
    const { body: other } = await send('another').expect(422);

    expect([again.id, headers['idempotent-replayed']]).toEqual([first.id, 'true']);
    expect(other.code).toBe('idempotency_key_reused');
    while ((await filesLeft()).filter((name) => name === 'once.txt').length !== 1);
    const [message] = await readMessages(first.thread_id);
    expect(message?.content.at(-1)?.text).toBe('[Uploaded File: /workspace/once.txt]');
  });
});

describe('attack: forms', () => {
  it('leaves files behind with a request that is refused', async () => {
    const form = () => post().attach('files', Buffer.from('x'), 'refused.txt');
    const { body } = await form().field('input', 'Go.').field('body', '{"model":"nothing"}').expect(422);
    expect(body.errors[0].field).toBe('model');
    await form().field('input', 'Go.').field('body', '{').expect(400);
    await form().field('body', '[]').expect(422);
    await isGone('refused.txt');
  });

  it.each([
    ['an unknown text', (request: ReturnType<typeof post>) => request.field('prompt', 'Go.'), 'prompt'],
    ['an unknown file', (request: ReturnType<typeof post>) => request.attach('file', Buffer.from('x'), 'x'), 'file'],
    ['a text twice', (request: ReturnType<typeof post>) => request.field('input', 'a').field('input', 'b'), 'input'],
    ['a file as text', (request: ReturnType<typeof post>) => request.field('files', 'file_1'), 'files'],
    [
      'files in both places',
      (request: ReturnType<typeof post>) => request.field('input', 'a').field('body', '{"files":["file_1"]}'),
      'files',
    ],
    [
      'the input in both places',
      (request: ReturnType<typeof post>) => request.field('input', 'a').field('body', '{"input":"b"}'),
      'input',
    ],
    [
      'an unknown field of the body',
      (request: ReturnType<typeof post>) => request.field('input', 'a').field('body', '{"account_id":"acc_1"}'),
      'account_id',
    ],
  ] as const)('has %s', async (_, fill, field) => {
    const { body } = await fill(post()).expect(422);
    expect(body.errors[0].field).toBe(field);
  });

  it('has more files than a run may get, or a file that is too long', async () => {
    let many = post().field('input', 'Go.');
    for (let count = 0; count < 21; count += 1) many = many.attach('files', Buffer.from('x'), `many-${count}.txt`);
    expect((await many.expect(422)).body.errors[0].field).toBe('files');
    await post().field('input', 'Go.').attach('files', Buffer.alloc(5_000_001), 'long.bin').expect(413);
    await post().field('input', 'x'.repeat(100_001)).expect(413);
    expect((await filesLeft()).filter((name) => /many|long/.test(name))).toEqual([]);
  });

  it('is sent without a key, with one that only reads, and where forms are not taken', async () => {
    const reader = await gateway.toKey('reader', ['read']);
    await gateway.anonymous
      .post('/v1/runs')
      .field('input', 'Go.')
      .attach('files', Buffer.from('x'), 'a.txt')
      .expect(401);
    await post('/v1/runs', reader).field('input', 'Go.').attach('files', Buffer.from('x'), 'a.txt').expect(403);
    await post('/v1/threads').field('metadata', '{}').expect(415);
    expect(await filesLeft()).not.toContain('a.txt');
  });
});
