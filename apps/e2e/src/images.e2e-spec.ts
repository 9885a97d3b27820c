import { type RondoClient, RunningRondo } from '@rondo/installation';
import { expectWholeLog } from './log-expectations';

/** A PNG as far as its header says, of 2 by 3. */
const png = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
  Buffer.from([0, 0, 0, 2, 0, 0, 0, 3]),
  Buffer.from('the rest of the image'),
]);
const source = { type: 'base64', media_type: 'image/png', data: png.toString('base64') };
const talk = { tools: [], agent: { system_prompt: 'Look well.' } };

/** The same server, by OpenAI's protocol and by Anthropic's. */
const models = ['demo/plain', 'demo-anthropic/plain'];

interface Messages {
  readonly data: { readonly content: { readonly type: string; readonly source?: Record<string, unknown> }[] }[];
}

describe('images through the whole house (D13, R33, W35)', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await RunningRondo.start({ instances: ['demo-model', 'tool-executor', 'agent-worker', 'gateway'] });
    client = rondo.client();
  });

  afterAll(async () => {
    expect(await rondo.violations()).toMatchObject([]);
    await rondo.stop();
  });

  const settle = async (body: Record<string, unknown>) => {
    const { id } = await client.createRun({ ...talk, ...body });
    const run = await client.settled(id);
    const [request] = await rondo.modelRequests(1);
    return { run, facts: await client.facts(id), sent: request?.body ?? '' };
  };

  it.each(models)('are blobs in the log, bytes for %s, and the same bytes in the next run', async (model) => {
    const input = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source },
    ];
    const first = await settle({ model, input });
    const second = await settle({ model, thread_id: first.run.thread_id, input: 'And from the side?' });

    expect([first.run.status, second.run.status]).toEqual(['completed', 'completed']);
    expectWholeLog(first.facts);
    expect(JSON.stringify([first.facts, second.facts])).not.toContain(source.data);
    for (const { sent } of [first, second]) expect(sent.split(source.data)).toHaveLength(2);
    const upToImage = (sent: string) => sent.slice(0, sent.indexOf(source.data));
    expect(upToImage(second.sent)).toBe(upToImage(first.sent));
  });

  it('are read back by whoever holds the message', async () => {
    const { run } = await settle({ model: 'demo/plain', input: [{ type: 'image', source }] });
    const { data } = await client.json<Messages>('GET', `/threads/${run.thread_id}/messages`);
    const kept = data[0]?.content[0]?.source;

    expect(kept).toMatchObject({ type: 'blob', media_type: 'image/png', width: 2, height: 3 });
    const response = await fetch(`${client.url}/v1/blobs/${String(kept?.['sha256'])}`, {
      headers: { Authorization: `Bearer ${client.key}` },
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(png);
  });
});
