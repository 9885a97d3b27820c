import { createToolStreams } from '../testing/test-nats';
import { ToolCallFixture, aCall, answered, endlessWork, never } from '../testing/tool-call-fixture';

const mebibyte = 1024 * 1024;
/** More than the store of claims holds. */
const mostClaims = 130;
/** An executor asks what the store has dropped only for calls that are older than that. */
const laterMs = 60_000;

describe('tool calls whose claims were dropped for newer ones', () => {
  let fixture: ToolCallFixture;
  beforeEach(() => (fixture = new ToolCallFixture()));
  afterEach(async () => {
    jest.restoreAllMocks();
    await fixture.close();
  });

  /** Long claims of other calls take the place of all earlier ones. */
  async function dropClaims(): Promise<void> {
    const { connection, names } = await fixture.nats.link();
    const claim = Buffer.alloc(mebibyte - 1_024);
    for (let other = 1; other <= mostClaims; other += 1) {
      const subject = names.toolTakers.one('other', { runId: 'run_other', callId: `call_${other}`, attempt: 1 });
      await connection.request(subject, claim, { timeout: 10_000 });
    }
  }

  it('does not run such a call again when its executor has died (I5)', async () => {
    const call = aCall('unsafe');
    const tools = await fixture.worker(call.run_id);
    const answer = tools.execute(call, never);
    const work = endlessWork();
    const executor = await fixture.executor(work.handle);
    await work.begun;

    await executor.die();
    await dropClaims();
    const nowMs = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(nowMs + laterMs);
    const again = endlessWork();
    await fixture.executor(again.handle);

    expect(await Promise.race([answer, again.begun.then(() => 'it runs again')])).toMatchObject({ how: 'unknown' });
  });

  it('runs a call that was sent since then', async () => {
    await createToolStreams(await fixture.nats.link()).ensure();
    await dropClaims();
    const call = aCall('unsafe');
    const tools = await fixture.worker(call.run_id);
    await fixture.executor(() => Promise.resolve(answered('done')));

    expect(await tools.execute(call, never)).toMatchObject({ result: { output: 'done' } });
  });

  it('does not send a call again that is older than the claims that are left', async () => {
    const streams = createToolStreams(await fixture.nats.link());
    await streams.ensure();
    const { store } = streams;
    await dropClaims();
    await streams.recheck();

    expect(streams.remembers(store)).toBe(false);
    expect(streams.remembers(streams.store)).toBe(true);
  });
});
