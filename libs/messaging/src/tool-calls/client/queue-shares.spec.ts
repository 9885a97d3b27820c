import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountId, runId } from '@rondo/contract';
import { type HeldShare, type QueuedCall, QueueShares } from './queue-shares';
import { ToolCallFixture, aCall, answered, endlessWork, never } from '../../testing/tool-call-fixture';

const url = process.env['TEST_REDIS_URL'] ?? '';
const mebibyte = 1024 * 1024;
const [busy, quiet] = [accountId.parse('acc_busy'), accountId.parse('acc_quiet')];
const aRun = runId.parse('run_1');

const open: QueueShares[] = [];
afterEach(() => {
  for (const shares of open.splice(0)) shares.close();
});

interface Limits {
  readonly prefix?: string;
  readonly limit?: number;
  readonly leaseMs?: number;
  readonly url?: string;
}

async function aWorker({ prefix = randomUUID(), limit = 4 * mebibyte, leaseMs = 60_000, ...at }: Limits = {}) {
  const readLimit = () => Promise.resolve(limit);
  const waits = at.url === undefined && { commandTimeoutMs: 60_000 }; // a Redis of a busy machine is slow, and not away
  const shares = new QueueShares({ url: at.url ?? url, prefix, readLimit, leaseMs, retryMs: 20, ...waits });
  open.push(shares);
  if (at.url === undefined) await shares.ping();
  return shares;
}

const call = (bytes: number, account = busy, run = aRun): QueuedCall => ({ account, runId: run, bytes });

/** What was admitted, in order. */
function entering(shares: QueueShares, asks: readonly QueuedCall[], signal = never) {
  const admitted: number[] = [];
  const held = asks.map(async (ask, index) => {
    const share = await shares.enter(ask, signal);
    if (share) admitted.push(index);
    return share;
  });
  return { admitted, held };
}

/** Resolves when the run of an account waits. */
async function untilWaiting(shares: QueueShares, run = aRun): Promise<void> {
  while (!(await shares.read(busy)).waitingRuns.includes(run)) await sleep(5);
}

describe('QueueShares', () => {
  it('lets calls of an account wait that do not fit into its share, over all workers, and none of another account', async () => {
    const prefix = randomUUID();
    const [one, other] = [await aWorker({ prefix }), await aWorker({ prefix })];
    const held = await one.enter(call(3 * mebibyte), never);
    const { admitted, held: waiting } = entering(other, [call(2 * mebibyte)]);
    await untilWaiting(one);

    expect(await other.enter(call(3 * mebibyte, quiet), never)).toBeDefined();
    expect(admitted).toEqual([]);
    held?.giveBack();
    expect(await waiting[0]).toBeDefined();
    expect((await one.read(busy)).waitingRuns).toEqual([]);
  });

  it('admits them in their order, so that small ones do not overtake a large one for ever', async () => {
    const prefix = randomUUID();
    const [one, other] = [await aWorker({ prefix }), await aWorker({ prefix })];
    const first = await one.enter(call(3 * mebibyte), never);
    const large = entering(other, [call(4 * mebibyte), call(mebibyte)]);
    await untilWaiting(one);
    const small = entering(one, [call(1.5 * mebibyte)]);
    first?.giveBack();

    const share = await large.held[0];
    expect({ large: large.admitted, small: small.admitted }).toEqual({ large: [0], small: [] });
    share?.giveBack();
    expect(await Promise.all([...large.held, ...small.held])).not.toContain(undefined);
  });

  it('sends a call that is larger than the share when it is the only one', async () => {
    const shares = await aWorker();
    const small = await shares.enter(call(10), never);
    const { admitted, held } = entering(shares, [call(8 * mebibyte)]);
    await untilWaiting(shares);
    expect(admitted).toEqual([]);
    small?.giveBack();

    expect(await held[0]).toBeDefined();
  });

  it('asks Redis once for many small calls', async () => {
    const shares = await aWorker();
    const held = [];
    for (let sent = 0; sent < 60; sent += 1) held.push(await shares.enter(call(1_000), never));

    expect(await shares.read(busy)).toEqual({ bytes: 64 * 1024, waitingRuns: [] });
  });

  it('ends the wait of a call that is stopped, and leaves its turn to the next', async () => {
    const shares = await aWorker();
    await shares.enter(call(3 * mebibyte), never);
    const stop = new AbortController();
    const stopped = entering(shares, [call(3 * mebibyte)], stop.signal);
    const next = entering(shares, [call(mebibyte)]);
    await untilWaiting(shares);
    stop.abort();

    expect(await stopped.held[0]).toBeUndefined();
    expect(await next.held[0]).toBeDefined();
  });

  it('gives back what a worker held that died', async () => {
    const prefix = randomUUID();
    const dying = await aWorker({ prefix, leaseMs: 300 });
    await dying.enter(call(4 * mebibyte), never);
    const { held } = entering(await aWorker({ prefix }), [call(4 * mebibyte)]);
    dying.close();

    expect(await held[0]).toBeDefined();
  });

  it('keeps what a worker holds that lives, beyond the expiry', async () => {
    const prefix = randomUUID();
    const [one, other] = [await aWorker({ prefix, leaseMs: 300 }), await aWorker({ prefix, leaseMs: 300 })];
    await one.enter(call(4 * mebibyte), never);
    const { admitted } = entering(other, [call(4 * mebibyte)]);
    await sleep(1_000);

    expect(admitted).toEqual([]);
  });

  it('counts calls that a former holder of the run has sent, and gives back when they have left the queue', async () => {
    const shares = await aWorker({ leaseMs: 300 });
    let isQueued = true;
    const share: HeldShare = shares.hold(call(5 * mebibyte));
    const { admitted, held } = entering(shares, [call(mebibyte)]);
    share.giveBackWhen(() => Promise.resolve(!isQueued));
    await untilWaiting(shares);
    expect(admitted).toEqual([]);
    isQueued = false;

    expect(await held[0]).toBeDefined();
  });

  it('lets nothing wait while Redis is away (I1)', async () => {
    const shares = await aWorker({ url: 'redis://127.0.0.1:1' });

    for (let sent = 0; sent < 3; sent += 1) expect(await shares.enter(call(4 * mebibyte), never)).toBeDefined();
  });
});

describe('tool calls of an account that has as much in the queue as it may', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(() => fixture.close());

  const large = () => ({ ...aCall('unsafe'), arguments: { text: 'x'.repeat(3 * mebibyte) } });

  it('wait in the worker while those of others are sent, and are sent when another one is answered', async () => {
    const shares = await aWorker();
    const work: { finish: () => void }[] = [];
    const arrived: string[] = [];
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    await fixture.executor(async ({ call_id, account_id }) => {
      arrived.push(call_id);
      if (account_id === quiet) return answered('quiet');
      await new Promise<void>((resolve) => {
        work.push({ finish: resolve });
        begin();
      });
      return answered('busy');
    });
    const [first, second, third] = [large(), large(), large()];
    const answers = [first, second].map(async (one) => {
      const tools = await fixture.worker(one.run_id, { account: busy, shares });
      return tools.execute(one, never);
    });
    await begun;
    const other = await fixture.worker(third.run_id, { account: quiet, shares });

    expect(await other.execute(third, never)).toMatchObject({ result: { output: 'quiet' } });
    expect(arrived).toHaveLength(2);
    while (work.length < 2) {
      work[0]?.finish();
      await sleep(10);
    }
    work[1]?.finish();
    expect(await Promise.all(answers)).toMatchObject([{ result: { output: 'busy' } }, { result: { output: 'busy' } }]);
  });

  it('do not time out meanwhile, and are stopped without having been sent', async () => {
    const shares = await aWorker();
    const work = endlessWork();
    await fixture.executor(work.handle);
    const [first, second] = [large(), large()];
    const one = await fixture.stoppable(first, { account: busy, shares });
    await work.begun;
    const impatient = { account: busy, shares, toolTimeoutMs: 1, timing: { patienceMs: 1 } };
    const other = await fixture.stoppable(second, impatient);
    await untilWaiting(shares, second.run_id);
    await sleep(50); // far more than it may take once it is sent
    other.stop.abort();

    expect(await other.answer).toMatchObject({ how: 'stopped' });
    expect(work.calls.map(({ call_id }) => call_id)).toEqual([first.id]);
    one.stop.abort();
    await one.answer;
  });
});
