import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';
import { StrictClient } from './testing/scripted-run';
import { collect, createEvent, readStream } from './testing/sse-reader';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

const toStream = (runId: string, query = '') => `${gateway.url}/v1/runs/${runId}/stream${query}`;

describe('server-sent events of a run', () => {
  it('send everything from the first fact to the last, and end', async () => {
    const run = await gateway.createRun();
    const reading = collect(readStream(toStream(run.id)));
    const claimed = await worker.claim(run.id);
    claimed.streamText('Hello, ');
    claimed.streamText('world.');
    await claimed.finishMessage();
    await claimed.complete();

    const frames = await reading;
    const facts = frames.filter(({ id }) => id !== undefined);
    expect(facts.map(({ id, event }) => `${id} ${event}`)).toEqual([
      '1 run.created',
      '2 message.created',
      '3 run.started',
      '4 message.created',
      '5 run.completed',
    ]);
    const client = new StrictClient();
    for (const frame of frames) client.receive(createEvent(frame));
    expect(client.violations).toEqual([]);
  });

  it('send the same bytes as REST', async () => {
    const run = await gateway.createRun();
    const live = collect(readStream(toStream(run.id)));
    const claimed = await worker.claim(run.id);
    claimed.streamText('Ünïcödé 🐦');
    await claimed.finishMessage();
    await claimed.complete();
    const watched = (await live).filter(({ id }) => id !== undefined).map(({ data }) => data);

    const { text } = await gateway.as().get(`/v1/runs/${run.id}/events`).expect(200);
    expect(text).toBe(`{"data":[${watched.join(',')}],"head_seq":5}`);
    const replayed = (await collect(readStream(toStream(run.id)))).map(({ data }) => data);
    expect(replayed).toEqual(watched);
  });

  it('resume after Last-Event-ID, or else after ?after=', async () => {
    const run = await gateway.createRun();
    await (await worker.claim(run.id)).complete();
    const readIds = async (query: string, headers = {}) =>
      (await collect(readStream(toStream(run.id, query), { headers }))).map(({ id }) => id);

    expect(await readIds('?after=2')).toEqual(['3', '4']);
    expect(await readIds('?after=1', { 'Last-Event-ID': '3' })).toEqual(['4']);
    expect(await readIds('?after=4')).toEqual([]);
    await gateway.as().get(`/v1/runs/${run.id}/stream`).set('Last-Event-ID', '4').expect(204);
  });

  it('never stop a run when they are closed (I8)', async () => {
    const run = await gateway.createRun();
    const leave = new AbortController();
    const frames = readStream(toStream(run.id), { signal: leave.signal });
    await frames.next();
    leave.abort();
    await expect(collect(frames)).rejects.toThrow();

    const claimed = await worker.claim(run.id);
    await claimed.complete();
    expect((await gateway.read(run.id)).status).toBe('completed');
  });

  it('end when the gateway shuts down, so that clients reconnect elsewhere, and waits are answered', async () => {
    const other = await RunningGateway.start();
    const run = await other.createRun();
    const reading = collect(readStream(`${other.url}/v1/runs/${run.id}/stream`));
    const waiting = other.as().get(`/v1/runs/${run.id}/wait`).expect(200);
    const status = waiting.then(({ body }) => body.status as string);
    while (other.parts.subscriptions.subscriberCount < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await other.close();

    expect(await status).toBe('queued');
    expect((await reading).map(({ event }) => event)).toEqual(['run.created', 'message.created']);
  });
});
