import { type RondoClient, type RunningRondo, call } from '@rondo/test-deployment';
import { ImageServer } from '../image-server';
import { expectWholeLog } from '../log-expectations';
import { internalPort, newAccount, startPaired } from '../shared-deployment';

/** The header of a PNG of 2 by 3 pixels. */
const png = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'),
  Buffer.from([0, 0, 0, 2, 0, 0, 0, 3]),
  Buffer.from('the rest of the image'),
]);
const source = { type: 'base64', media_type: 'image/png', data: png.toString('base64') };

/** The same server over OpenAI's and Anthropic's protocols. */
const models = ['demo/plain', 'demo-anthropic/plain'];

interface Messages {
  readonly data: { readonly content: { readonly type: string; readonly source?: Record<string, unknown> }[] }[];
}

describe('images in a deployment', () => {
  let rondo: RunningRondo;
  let client: RondoClient;
  let images: ImageServer;
  let canary: ImageServer;

  beforeAll(async () => {
    [images, canary] = await Promise.all([ImageServer.open(png, await internalPort()), ImageServer.open(png)]);
    rondo = await startPaired();
    client = await newAccount(rondo);
  });

  afterAll(async () => {
    expect(canary.connections).toBe(0);
    await Promise.all([images.close(), canary.close()]);
  });

  /** `about` is of one test. */
  const settle = async (about: string, body: Record<string, unknown>) => {
    const { id } = await client.createRun({ tools: [], agent: { system_prompt: about }, ...body });
    const run = await client.waitForRun(id);
    const requests = (await rondo.findModelRequests(about)).map((request) => request.body);
    return { run, facts: await client.facts(id), requests, sent: requests.at(-1) ?? '' };
  };

  it.each(models)('are blobs in the log, bytes for %s, and the same bytes in the next run', async (model) => {
    const input = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source },
    ];
    const about = `Look well at what ${model} was sent.`;
    const first = await settle(about, { model, input });
    const second = await settle(about, { model, thread_id: first.run.thread_id, input: 'And from the side?' });

    expect([first.run.status, second.run.status]).toEqual(['completed', 'completed']);
    expectWholeLog(first.facts);
    expect(JSON.stringify([first.facts, second.facts])).not.toContain(source.data);
    for (const { sent } of [first, second]) expect(sent.split(source.data)).toHaveLength(2);
    const upToImage = (sent: string) => sent.slice(0, sent.indexOf(source.data));
    expect(upToImage(second.sent)).toBe(upToImage(first.sent));
  });

  it('are readable by the account of the message', async () => {
    const { run } = await settle('Look well.', { model: 'demo/plain', input: [{ type: 'image', source }] });
    const { data } = await client.json<Messages>('GET', `/threads/${run.thread_id}/messages`);
    const kept = data[0]?.content[0]?.source;

    expect(kept).toMatchObject({ type: 'blob', media_type: 'image/png', width: 2, height: 3 });
    const response = await fetch(`${client.url}/v1/blobs/${String(kept?.['sha256'])}`, {
      headers: { Authorization: `Bearer ${client.key}` },
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(png);
  });

  const urlBlock = (url: string) => ({ type: 'image', source: { type: 'url', url } });

  it.each(models)('are fetched once from their URL, and %s receives the bytes', async (model) => {
    const url = `http://${images.host}/${model}.png`;
    const about = `Look well at what ${model} has fetched.`;
    const first = await settle(about, { model, input: [{ type: 'text', text: 'What is this?' }, urlBlock(url)] });
    const second = await settle(about, { model, thread_id: first.run.thread_id, input: 'And from the side?' });

    expect([first.run.status, second.run.status]).toEqual(['completed', 'completed']);
    for (const { sent } of [first, second]) {
      expect(sent.split(source.data)).toHaveLength(2);
      expect(sent).not.toContain(images.host);
    }
    expect(images.requestsFor(`/${model}.png`)).toBe(1);
  });

  it('are fetched once for all iterations of a run', async () => {
    const thought = { thought: 'Hm.', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
    const turns = [{ calls: [call('sequential_thinking', thought)] }];
    const script = `\`\`\`demo-script\n${JSON.stringify([...turns, { text: 'Seen.' }])}\n\`\`\``;
    const { run, requests } = await settle('Look twice.', {
      model: 'demo/scripted',
      tools: ['sequential_thinking'],
      input: [{ type: 'text', text: `Iterations\n${script}` }, urlBlock(`http://${images.host}/twice.png`)],
    });

    expect(run).toMatchObject({ status: 'completed', iteration: 2 });
    expect(requests).toHaveLength(2);
    for (const body of requests) expect(body).toContain(source.data);
    expect(images.requestsFor('/twice.png')).toBe(1);
  });

  it.each(models)('are replaced by a text for %s if they may not be fetched, and the run continues', async (model) => {
    const refused = [`http://${canary.host}/a.png`, `http://${images.host}/redirect?to=http://${canary.host}/b.png`];
    const { run, sent } = await settle(`Look at nothing with ${model}.`, { model, input: refused.map(urlBlock) });

    expect(run.status).toBe('completed');
    expect(sent.match(/could not be loaded: its host is not a public address/g)).toHaveLength(2);
    expect(sent).not.toContain('image_url');
    expect(sent).not.toContain('"type":"url"');
    expect(canary.connections).toBe(0);
  });
});
