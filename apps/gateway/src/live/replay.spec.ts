import type { Run, RunId } from '@rondo/contract';
import { Retention } from '@rondo/persistence';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';
import { collect, readStream } from './testing/sse-reader';
import type { SubscriberEvent } from './stream-notices';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

/** A terminal run with texts that two serializations easily write differently. */
async function endedRun(): Promise<Run> {
  const run = await gateway.createRun({ input: 'Ünïcödé 🐦 "quoted" \\ \u2028 </script>' });
  const claimed = await worker.claim(run.id);
  for (const text of ['{"a": 1.0e3}', '🐦'.repeat(50), ' \t\n', '\ud83d\udc26\u0001']) {
    claimed.streamText(text);
    await claimed.finishMessage();
  }
  await claimed.complete();
  return gateway.read(run.id);
}

const overRest = async (id: RunId, after: number): Promise<string[]> => {
  const { text } = await gateway.as().get(`/v1/runs/${id}/events?after=${after}&limit=1000`).expect(200);
  const head = /,"head_seq":\d+\}$/.exec(text);
  if (!text.startsWith('{"data":[') || !head) throw new Error(`unexpected page: ${text}`);
  return splitEvents(text.slice('{"data":['.length, head.index - 1));
};

/** Events of a JSON list, as the bytes that they were sent as. */
const splitEvents = (list: string): string[] => (list === '' ? [] : list.split(/,(?=\{"id":"evt_)/));

const overStream = async (id: RunId, after: number): Promise<string[]> => {
  const frames = readStream(`${gateway.url}/v1/runs/${id}/stream?after=${after}`);
  return (await collect(frames)).map(({ data }) => data);
};

/** The text of each message that comes over a socket, up to the fact that ends the run. */
const overSocket = async (id: RunId, after: number): Promise<string[]> => {
  const socket = gateway.socket();
  const texts: string[] = [];
  await new Promise<void>((resolve) => {
    socket.on('connect', () => {
      socket.io.engine.on('packet', ({ type, data }: { type: string; data?: unknown }) => {
        const [, text] = (type === 'message' && /^2\/runs,\["event",(.*)\]$/s.exec(String(data))) || [];
        if (text === undefined) return;
        texts.push(text);
        if (text.includes('"type":"run.completed"')) resolve();
      });
      socket.emit('run.subscribe', { run_id: id, after_seq: after });
    });
  });
  socket.disconnect();
  return texts;
};

describe('replay', () => {
  it('is the same byte for byte over REST, SSE and sockets, from any seq (I2)', async () => {
    const { id, last_seq } = await endedRun();
    const whole = await overRest(id, 0);
    expect(whole).toHaveLength(last_seq);

    for (let after = 0; after < last_seq; after += 1) {
      const rest = whole.slice(after);
      expect(await overRest(id, after)).toEqual(rest);
      expect(await overStream(id, after)).toEqual(rest);
      expect(await overSocket(id, after)).toEqual(rest);
    }
  });
});

describe('after retention has removed facts', () => {
  let run: Run;
  const gap = (from: number) => ({ from, to: run.last_seq - 1, reason: 'retention' });
  beforeAll(async () => {
    run = await endedRun();
    await gateway.database.sql.query(`update runs set finished_at = finished_at - interval '2 days' where id = $1`, [
      run.id,
    ]);
    await new Retention(gateway.ownerDatabase, 1).trim();
  });

  it('REST reports the gap and a snapshot of the run; behind the gap, neither', async () => {
    const { body } = await gateway.as().get(`/v1/runs/${run.id}/events?after=2`).expect(200);

    expect(body.gap).toEqual(gap(3));
    expect(body.snapshot.run).toMatchObject({ id: run.id, status: 'completed', last_seq: run.last_seq });
    expect(body.snapshot.messages).toHaveLength(5);
    expect(body.data).toMatchObject([{ seq: run.last_seq, type: 'run.completed' }]);
    const later = await gateway
      .as()
      .get(`/v1/runs/${run.id}/events?after=${run.last_seq - 1}`)
      .expect(200);
    expect(Object.keys(later.body as object)).toEqual(['data', 'head_seq']);
  });

  it.each([
    ['SSE', overStream],
    ['a socket', overSocket],
  ])('%s sends the gap, the snapshot and then the facts that are left', async (_, watch) => {
    const events = (await watch(run.id, 2)).map((text) => JSON.parse(text) as SubscriberEvent);

    expect(events.map(({ type, seq }) => [type, seq])).toEqual([
      ['stream.gap', null],
      ['stream.snapshot', null],
      ['run.completed', run.last_seq],
    ]);
    expect(events[0]).toMatchObject({ v: 1, run_id: run.id, thread_id: run.thread_id, data: gap(3) });
    const { body } = await gateway.as().get(`/v1/runs/${run.id}/events?after=2`).expect(200);
    expect(events[1]?.data).toEqual(body.snapshot);
  });

  it('the rest of the log can still be verified', async () => {
    const { body } = await gateway.as().get(`/v1/runs/${run.id}/events/verify`).expect(200);

    expect(body).toMatchObject({ first: run.last_seq, last: run.last_seq, count: 1, contiguous: true });
    expect(body.trimmed.through).toBe(run.last_seq - 1);
  });
});
