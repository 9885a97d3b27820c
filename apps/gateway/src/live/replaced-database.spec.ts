import { join } from 'node:path';
import { PostgresPair, type TestDatabase, makeTestDatabase } from '@rondo/persistence/testing';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';
import { type Frame, createEvent, readStream } from './testing/sse-reader';

const dataDir = join(__dirname, '../../../../.data');

interface Deployment {
  readonly pair: PostgresPair;
  readonly database: TestDatabase;
  readonly gateway: RunningGateway;
  readonly worker: TestWorker;
}

async function deploy(isSynchronous: boolean): Promise<Deployment> {
  const pair = await PostgresPair.start({ dataDir, isSynchronous });
  const database = await makeTestDatabase(pair.url);
  const gateway = await RunningGateway.start({ DATABASE_URL: await database.findUrl('gateway') });
  return { pair, database, gateway, worker: await TestWorker.start(gateway.database) };
}

async function close({ pair, database, gateway, worker }: Deployment): Promise<void> {
  await worker.close();
  await gateway.close();
  await database.drop();
  await pair.close();
}

const isFact = ({ id }: Frame): boolean => id !== undefined;

/** Resolves with the frames of facts, and with how the stream ended, once it has. */
function follow(gateway: RunningGateway, runId: string, lastEventId?: string) {
  const frames: Frame[] = [];
  const waiting = new Set<() => void>();
  const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
  const read = async (): Promise<void> => {
    for await (const frame of readStream(`${gateway.url}/v1/runs/${runId}/stream`, { headers })) {
      frames.push(frame);
      for (const look of waiting) look();
    }
  };
  const ended = read().then(
    () => 'ended',
    () => 'cut',
  );
  /** Resolves when a fact with this seq has come. */
  const shows = (seq: number) =>
    new Promise<void>((resolve) => {
      const look = () => frames.some((frame) => createEvent(frame).seq === seq) && resolve();
      waiting.add(look);
      look();
    });
  return { frames, ended, shows };
}

/** The frames up to the end of the run, however often the stream is cut. */
async function followToEnd(gateway: RunningGateway, runId: string, lastEventId?: string): Promise<Frame[]> {
  const { frames, ended } = follow(gateway, runId, lastEventId);
  if ((await ended) === 'ended') return frames;
  return [...frames, ...(await followToEnd(gateway, runId, frames.filter(isFact).at(-1)?.id ?? lastEventId))];
}

describe('a replica without the last facts that is promoted', () => {
  let deployment: Deployment;
  beforeAll(async () => (deployment = await deploy(false)), 60_000);
  afterAll(() => close(deployment));

  it('has each stream cut, which then says from where on it is rewound', async () => {
    const { pair, gateway, worker } = deployment;
    const run = await gateway.createRun();
    const before = await worker.claim(run.id);
    await before.finishMessage();
    const { last_seq: kept } = await gateway.read(run.id);
    const [watching, lost] = [follow(gateway, run.id), kept + 1];

    pair.stopReplication();
    await before.finishMessage();
    await watching.shows(lost);
    await pair.failOver();
    while (!(await gateway.read(run.id).catch(() => undefined)));
    expect(await watching.ended).toBe('cut');
    await expect(before.finishMessage()).rejects.toThrow(); // its claim is of the lost history

    const again = followToEnd(gateway, run.id, watching.frames.filter(isFact).at(-1)?.id);
    const after = await worker.claim(run.id);
    await after.complete();

    const shown = (await again).map((frame) => createEvent(frame));
    expect(shown[0]).toMatchObject({ type: 'stream.rewound', seq: null, data: { from: lost } });
    const { body: log } = await gateway.as().get(`/v1/runs/${run.id}/events`).expect(200);
    const { data, rewinds } = log as { data: { seq: number; epoch: number }[]; rewinds: unknown };
    expect(shown.slice(1)).toEqual(data.filter(({ seq }) => seq >= lost));
    expect(rewinds).toEqual([{ from: lost, epoch: 1_000_000 }]);
    const { body: verified } = await gateway.as().get(`/v1/runs/${run.id}/events/verify`).expect(200);
    expect(verified).toMatchObject({ contiguous: true, rewinds: [{ from: lost, epoch: 1_000_000 }] });

    const last = (await again).at(-1)?.id ?? '';
    expect(last).toBe(`${data.at(-1)?.seq}.${data.at(-1)?.epoch}`);
    await gateway.as().get(`/v1/runs/${run.id}/stream`).set('Last-Event-ID', last).expect(204);
  });
});

describe('a synchronous replica that is promoted', () => {
  let deployment: Deployment;
  beforeAll(async () => (deployment = await deploy(true)), 60_000);
  afterAll(() => close(deployment));

  it('has lost nothing that was shown, and streams go on', async () => {
    const { pair, gateway, worker } = deployment;
    const run = await gateway.createRun();
    const before = await worker.claim(run.id);
    const watching = follow(gateway, run.id);
    await before.finishMessage();
    const { last_seq: kept } = await gateway.read(run.id);
    await watching.shows(kept);

    await pair.failOver();
    while (!(await gateway.read(run.id).catch(() => undefined)));
    await watching.ended;
    const again = followToEnd(gateway, run.id, String(kept));
    await (await worker.claim(run.id)).complete();

    const shown = [...watching.frames, ...(await again)].filter(isFact).map(({ data }) => data);
    const { body } = await gateway.as().get(`/v1/runs/${run.id}/events`).expect(200);
    expect(shown.map((text) => JSON.parse(text) as unknown)).toEqual((body as { data: unknown }).data);
    expect((await again).map((frame) => createEvent(frame).type)).not.toContain('stream.rewound');
  });
});
