import type { IncomingMessage, ServerResponse } from 'node:http';
import fc from 'fast-check';
import { isDelta, toText } from './event-kinds.ts';
import type { StreamEvent } from './generated/api.ts';
import { Rondo } from './rondo.ts';
import { RunLog } from './run-log.ts';
import { ScriptedGateway, sendJson } from './testing/scripted-gateway.ts';
import { eventsFrom, runEvents } from './testing/scripted-log.ts';

const [events = []] = fc
  .sample(runEvents, { numRuns: 200, seed: 7 })
  .filter((each) => each.length >= 16 && each.length <= 20)
  .filter((each) => !each.some(({ type }) => type === 'tool.unknown')); // another attempt prints from the beginning again

const frame = (event: StreamEvent): string =>
  `${event.seq === null ? '' : `id: ${event.seq}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const opening = 'retry: 1000\n\n';
const whole = Buffer.from(opening + events.map(frame).join(''));

/** How much of the run was sent before the connection was cut after so many bytes. */
function happenedBy(bytes: number): number {
  let sent = Buffer.byteLength(opening);
  return events.filter((event) => (sent += Buffer.byteLength(frame(event))) <= bytes).length;
}

/**
 * `/v1/runs/run_20_70/stream`: the first connection is cut after 20 bytes, the second after 70, the third is whole. Half of
 * the rest of the run happens while there is no connection.
 */
const runs = new Map<string, { readonly limits: number[]; position: number }>();
function serve(request: IncomingMessage, response: ServerResponse): void {
  const id = request.url?.split('/')[3] ?? '';
  const run = runs.get(id) ?? { limits: id.split('_').slice(1).map(Number), position: 0 };
  runs.set(id, run);
  const limit = run.limits.shift();
  const after = Number(request.headers['last-event-id']);
  if (after >= (events.at(-1)?.seq ?? 0)) {
    response.writeHead(204).end();
    return;
  }
  const sent = eventsFrom(events, { after, position: run.position });
  const bytes = Buffer.from(opening + sent.map(frame).join(''));
  const happened = Math.max(run.position, limit === undefined ? events.length : happenedBy(limit));
  run.position = Math.floor((happened + events.length) / 2);
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  if (limit === undefined) response.end(bytes);
  else response.write(bytes.subarray(0, limit), () => response.destroy());
}

const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
};

const facts = events.filter(({ seq }) => seq !== null);

/** What is wrong with the events that a reader received: facts that are not once and in order, texts that do not continue. */
function listFlaws(received: readonly StreamEvent[]): string[] {
  const isSame = JSON.stringify(received.filter(({ seq }) => seq !== null)) === JSON.stringify(facts);
  const lengths = new Map<string, number>();
  const breaks = received.filter(isDelta).filter((delta) => {
    const key = `${delta.type} ${delta.stream_id}`;
    const before = lengths.get(key) ?? 0;
    lengths.set(key, delta.offset + toText(delta).length);
    return delta.offset !== before;
  });
  return [...(isSame ? [] : ['other facts']), ...breaks.map(({ id }) => `${id} does not continue its text`)];
}

function toView(received: readonly StreamEvent[]): string {
  const log = new RunLog();
  for (const event of received) log.apply(event);
  return JSON.stringify(log.view);
}

describe('a stream', () => {
  let gateway: ScriptedGateway;
  let rondo: Rondo;
  beforeAll(async () => {
    gateway = await ScriptedGateway.start(serve);
    rondo = new Rondo(gateway.options);
  });
  afterAll(() => gateway.close());

  it('that is cut at any byte has each fact once, in order, and each piece of text once', async () => {
    const expected = toView(events);
    for (let from = 0; from < whole.length; from += 250) {
      const offsets = Array.from({ length: Math.min(250, whole.length - from) }, (_, index) => from + index);
      const wrong = offsets.map(async (offset) => {
        const received = await collect(rondo.runs.stream(`run_${offset}`));
        const flaws = [...listFlaws(received), ...(toView(received) === expected ? [] : ['another view'])];
        return flaws.map((flaw) => `cut after ${offset} bytes: ${flaw}`);
      });
      expect((await Promise.all(wrong)).flat()).toEqual([]);
    }
  });

  it('that is cut again and again goes on', async () => {
    const onCut = jest.fn();
    const received = await collect(rondo.runs.stream('run_900_40_0_700_1500_13', { onCut }));

    expect(listFlaws(received)).toEqual([]);
    expect(onCut).toHaveBeenCalledTimes(6);
  });

  it('tells of a cut once, however many attempts fail before the next connection', async () => {
    let attempts = 0;
    const flaky = new Rondo({
      baseUrl: gateway.url,
      fetch: (...sent) =>
        [2, 3].includes(++attempts) ? Promise.reject(new TypeError('connection refused')) : fetch(...sent),
    });
    const onCut = jest.fn();

    expect(listFlaws(await collect(flaky.runs.stream('once_900', { onCut })))).toEqual([]);
    expect([onCut.mock.calls.length, attempts]).toEqual([1, 4]);
  });

  it('begins after the fact that the reader has', async () => {
    const received = await collect(rondo.runs.stream('run', { after: 3 }));

    expect(received.find(({ seq }) => seq !== null)?.seq).toBe(4);
  });

  it('that is rewound passes the notice and then the facts that hold, and continues after them by their epoch', async () => {
    const asked: (string | undefined)[] = [];
    const [first, second] = facts as [StreamEvent, StreamEvent];
    const anew = { ...second, id: 'evt_anew', epoch: 1_000_001 } as StreamEvent;
    const end = { ...first, id: 'evt_end', seq: 3, epoch: 1_000_001, type: 'run.completed' } as StreamEvent;
    const rewound = { ...first, seq: null, type: 'stream.rewound', data: { from: 2 } } as StreamEvent;
    const sent = [[first, second], [rewound, anew], [end]];
    const rewinding = await ScriptedGateway.start((request, response) => {
      asked.push(request.headers['last-event-id'] as string | undefined);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end(opening + (sent.shift() ?? []).map(frame).join(''));
    });

    const received = await collect(new Rondo(rewinding.options).runs.stream('run'));

    expect(received.map(({ id, type }) => `${type} ${id}`)).toEqual(
      [first, second, rewound, anew, end].map(({ id, type }) => `${type} ${id}`),
    );
    expect(asked).toEqual(['0', '2', '2.1000001']);
    await rewinding.close();
  });

  it('passes on notices and pieces of texts that it does not know, and goes on', async () => {
    const [first, ...others] = facts as [StreamEvent, ...StreamEvent[]];
    const notice = { ...first, id: 'evt_new', seq: null, type: 'stream.new', data: {} } as unknown as StreamEvent;
    const piece = { ...notice, type: 'new.delta', stream_id: 'x', offset: 0, after_seq: 1 } as unknown as StreamEvent;
    const newer = await ScriptedGateway.start((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end(opening + [first, notice, piece, ...others].map(frame).join(''));
    });

    const received = await collect(new Rondo(newer.options).runs.stream('run'));

    expect(received).toEqual([first, notice, piece, ...others]);
    await newer.close();
  });

  it('of a run that had ended before has nothing', async () => {
    expect(await collect(rondo.runs.stream('run', { after: facts.length }))).toEqual([]);
  });

  it('closes its connection when the reader leaves', async () => {
    const closed = new Promise((resolve) => {
      void ScriptedGateway.start((request, response) => {
        response.writeHead(200).write(events.map(frame)[0]);
        request.socket.on('close', resolve);
      }).then(async (open) => {
        for await (const event of new Rondo(open.options).runs.stream('run')) if (event.seq === 1) break;
        await closed;
        await open.close();
      });
    });
    await closed;
  });

  it('rejects with the reason of its signal', async () => {
    const leave = new AbortController();
    const silent = await ScriptedGateway.start((_, response) => {
      response.writeHead(200).flushHeaders();
      leave.abort(new Error('enough'));
    });

    await expect(collect(new Rondo(silent.options).runs.stream('run', { signal: leave.signal }))).rejects.toThrow(
      'enough',
    );
    await silent.close();
  });

  it('rejects with the problem of a gateway that refuses it, without another try', async () => {
    const problem = { type: 'urn:x', title: 'Not Found', status: 404, code: 'run_not_found' };
    const refusing = await ScriptedGateway.start((_, response) => sendJson(response, 404, problem));

    await expect(collect(new Rondo(refusing.options).runs.stream('run'))).rejects.toMatchObject({ problem });
    expect(refusing.requests).toHaveLength(1);
    await refusing.close();
  });

  it('gives up where no gateway ever answered', async () => {
    const gone = await ScriptedGateway.start((_, response) => response.end());
    await gone.close();

    const rondo = new Rondo({ ...gone.options, retries: 1 });
    await expect(collect(rondo.runs.stream('run'))).rejects.toMatchObject({ name: 'ConnectionError' });
  });
});
