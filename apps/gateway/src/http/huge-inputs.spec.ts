import type { Socket } from 'socket.io-client';
import { nextEvent } from '../testing/next-event';
import { RunningGateway } from '../testing/running-gateway';
import { findExcess } from './json-bounds';

const gateway = RunningGateway.forSuite({
  BODY_LIMIT_BYTES: 10 * 1024 * 1024,
  THREAD_MAX_MESSAGES: 3,
  THREAD_MAX_BYTES: 500_000,
});
let socket: Socket;
beforeAll(async () => {
  socket = gateway.socket();
  await nextEvent(socket, 'connect');
});

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

const api = () => gateway.as();
const text = (characters: number) => ({ type: 'text', text: 'x'.repeat(characters) });

/** Over REST and by socket alike. */
async function refusals(body: object): Promise<readonly Refused[]> {
  const { body: overRest } = await api().post('/v1/runs').send(body);
  const { error } = (await socket.timeout(10_000).emitWithAck('run.create', body)) as { error: Refused };
  return [overRest as Refused, error];
}

const settled = { input: 'Go.' };
const wordy = { a: 'x'.repeat(100_001) };

describe('attack: public API', () => {
  it.each<[string, object, string]>([
    ['an input of 1,000,001 characters', { input: 'x'.repeat(1_000_001) }, 'input'],
    ['a block of 1,000,001 characters', { input: [text(1), text(1_000_001)] }, 'input.1.text'],
    ['three blocks that are too long together', { input: [text(900_000), text(900_000), text(900_000)] }, 'input'],
    ['101 blocks', { input: Array.from({ length: 101 }, () => text(1)) }, 'input'],
    ['the URL of an image with 10,000 characters', { input: [imageAt('x'.repeat(10_000))] }, 'input.0.source.url'],
    [
      'a system prompt of 200,001 characters',
      { ...settled, agent: { system_prompt: 'x'.repeat(200_001) } },
      'agent.system_prompt',
    ],
    ['101 directives', { ...settled, agent: { directives: Array(101).fill('Be brief.') } }, 'agent.directives'],
    [
      'a directive of 2,001 characters',
      { ...settled, agent: { directives: ['x'.repeat(2_001)] } },
      'agent.directives.0',
    ],
    ['the name of a tool with a million characters', { ...settled, tools: ['x'.repeat(1_000_000)] }, 'tools.0'],
    ['the name of a model with a million characters', { ...settled, model: `demo/${'x'.repeat(1_000_000)}` }, 'model'],
    ['a response format of 100,001 characters', { ...settled, llm: { response_format: wordy } }, 'llm.response_format'],
    ['metadata of 513 characters', { ...settled, metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
  ])('%s is refused with the name of the field, over REST and by socket', async (_, body, field) => {
    for (const refused of await refusals(body)) {
      expect(refused).toMatchObject({ status: 422, code: 'invalid_request' });
      expect(refused.errors?.map((error) => error.field)).toContain(field);
      expect(JSON.stringify(refused).length).toBeLessThan(2_000);
    }
  });

  it('3,000,000 items instead of blocks are refused without validating each', async () => {
    const body = `{"input":[${'1,'.repeat(3_000_000)}1]}`;

    const { body: refused } = await api()
      .post('/v1/runs')
      .set('Content-Type', 'application/json')
      .send(body)
      .expect(422);

    expect(refused.errors).toHaveLength(1);
    expect(refused.errors[0].message).toContain('values');
  });

  it('700,000 fields, over REST and by socket, are refused before they are parsed', async () => {
    const fields = Array.from({ length: 700_000 }, (_, index) => `"${index}":1`).join(',');
    const body = `{"input":"Go.","metadata":{${fields}}}`;
    const overRest = await api().post('/v1/runs').set('Content-Type', 'application/json').send(body).expect(422);
    const answered = new Promise<string>((resolve) => socket.io.engine.once('data', resolve));
    socket.io.engine.write(`2/runs,9["run.create",${body}]`);

    const errors = [{ field: 'metadata', message: expect.stringContaining('20000 values') }];
    expect(overRest.body).toMatchObject({ code: 'invalid_request', errors });
    expect(await answered).toContain('must not hold more than 20000 values');
  });

  it('values are counted only until there are too many, whatever follows', () => {
    const many = `[${'1,'.repeat(20_001)}`;

    expect(findExcess(`${many}this is no JSON`)).toEqual(findExcess(`${many}1]`));
    expect(findExcess(`${many}1]`)).toBeDefined();
  });

  it('10,000 unknown fields are not all named in the answer', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`${index}${'x'.repeat(300)}`, 1]));

    for (const refused of await refusals({ ...settled, ...unknown })) {
      expect(refused).toMatchObject({ status: 422, code: 'invalid_request' });
      expect(JSON.stringify(refused).length).toBeLessThan(100_000);
    }
  });

  describe('a thread that has reached its cap', () => {
    const full = { status: 422, code: 'thread_full' };

    async function readThread(messages: readonly string[]): Promise<string> {
      const { body } = await api().post('/v1/threads').expect(201);
      for (const content of messages) await api().post(`/v1/threads/${body.id}/messages`).send({ content }).expect(201);
      return body.id as string;
    }

    it.each([
      ['messages', ['1', '2', '3']],
      ['bytes', ['x'.repeat(500_000)]],
    ])('in %s accepts no more of them', async (_, messages) => {
      const thread = await readThread(messages);
      const add = await api().post(`/v1/threads/${thread}/messages`).send({ content: 'More.' });
      const go = await api().post(`/v1/threads/${thread}/runs`).send({ input: 'Go.' });
      const { error } = (await socket.emitWithAck('run.create', { thread_id: thread, input: 'Go.' })) as {
        error: object;
      };

      for (const refused of [add.body, go.body, error]) expect(refused).toMatchObject(full);
      expect((await api().get(`/v1/threads/${thread}/messages`).expect(200)).body.data).toHaveLength(messages.length);
    });

    it('by the inputs of runs accepts no more of them', async () => {
      const run = await gateway.createRun({ input: 'x'.repeat(500_000) });
      await api().post(`/v1/runs/${run.id}/stop`).expect(202);

      const { body } = await api().post('/v1/runs').send({ thread_id: run.thread_id, input: 'Go.' });

      expect(body).toMatchObject(full);
    });

    it('can still be read and deleted', async () => {
      const thread = await readThread(['1', '2', '3']);

      await api().get(`/v1/threads/${thread}`).expect(200);
      await api().delete(`/v1/threads/${thread}`).expect(204);
    });
  });
});

function imageAt(path: string) {
  return { type: 'image', source: { type: 'url', url: `https://example.com/${path}` } };
}
