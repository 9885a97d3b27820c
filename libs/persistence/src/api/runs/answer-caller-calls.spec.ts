import { type CallId, type CallerResult, type NewFact, type RunSettings, callId, callerResult } from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import { type Claim, TerminalError } from '@rondo/domain';
import {
  StoreFixture,
  iterationStarted,
  newAccount,
  nextId,
  planned,
  settings,
  started,
  wholeReply,
  sent,
} from '../../testing/store-fixture';
import { expireWaits } from './expire-waits';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

interface Parked {
  readonly claim: Claim;
  readonly calls: CallId[];
}

interface Wish {
  readonly count?: number;
  readonly expiresInMs?: number;
  readonly isPure?: boolean;
  readonly policy?: RunSettings['processor']['unknown_outcome'];
}

const weather = { name: 'get_weather', description: 'The weather of a city.' };

/** A run that waits for results of its caller. */
async function parked({
  count = 1,
  expiresInMs = 60_000,
  isPure = false,
  policy = 'report',
}: Wish = {}): Promise<Parked> {
  const processor = { ...settings.processor, unknown_outcome: policy };
  const { run } = await fixture.create({ settings: { ...settings, processor, caller_tools: [weather] } });
  const claim = await fixture.claim(run.id);
  const calls = Array.from({ length: count }, (_, index) => {
    const call = planned(claim, { name: 'get_weather', input: { city: 'Bergen' }, index });
    return isPure ? withClass(call) : call;
  });
  const awaited = calls.map(({ data: { tool_call: call } }) => ({
    ...{ tool_call_id: call.id, name: call.name, requested_at: new Date(Date.now() - 1_000).toISOString() },
    expires_at: new Date(Date.now() + expiresInMs).toISOString(),
  }));
  const waits: NewFact = { type: 'run.waiting', iteration: 1, data: { reason: 'caller_tools', tool_calls: awaited } };
  await fixture.store.append(claim, [...wholeReply(claim, calls), ...calls.map(sent), waits]);
  await fixture.published();
  return { claim, calls: calls.map(({ data }) => data.tool_call.id) };
}

const withClass = (call: ReturnType<typeof planned>): ReturnType<typeof planned> => ({
  ...call,
  data: { tool_call: { ...call.data.tool_call, effect_class: 'pure' } },
});

const answer = (id: CallId | undefined, result: CallerResult = { output: '18 °C' }, accountId = fixture.accountId) => {
  if (!id) throw new Error('the run has such a call');
  return fixture.runs.answerCall({ accountId, callId: id, result, answeredBy: 'key_1' });
};
const answerAll = ({ claim: { runId }, calls }: Parked, results: readonly CallerResult[]) =>
  fixture.runs.answerCalls({
    accountId: fixture.accountId,
    runId,
    answeredBy: 'key_1',
    answers: calls.flatMap((id, index) => (results[index] ? [{ callId: id, result: results[index] }] : [])),
  });
const refusal = (answered: Promise<unknown>): Promise<string> =>
  answered.then(
    () => 'taken',
    (error: unknown) => (error instanceof TerminalError ? error.code : String(error)),
  );
const address = ({ claim: { runId } }: Parked) => ({ accountId: fixture.accountId, runId });
const read = (run: Parked) => fixture.runs.get(address(run));
const listTypes = (facts: readonly { type: string }[]) => facts.map(({ type }) => type);
const readLog = async (run: Parked) => (await fixture.runs.events(address(run), { after: 0, limit: 99 })).data;

describe('a result of the caller', () => {
  it('is committed with the resumption of the run and its job', async () => {
    const run = await parked();
    expect(await read(run)).toMatchObject({ status: 'waiting_tool', waiting: { reason: 'caller_tools' } });

    const { toolCall, facts } = await answer(run.calls[0]);

    expect(listTypes(facts)).toEqual(['tool.completed', 'message.created', 'run.resumed']);
    expect(facts[0]?.data).toMatchObject({ answered_by: 'key_1', result: { success: true, output: '18 °C' } });
    expect(toolCall).toMatchObject({ status: 'completed', result: { success: true, output: '18 °C' } });
    expect(await read(run)).toMatchObject({ status: 'queued', waiting: null });
    expect(await fixture.published()).toMatchObject([{ key: `${run.claim.runId}-2` }]);
  });

  it('is why the call failed, where it says so', async () => {
    const run = await parked();

    const { toolCall } = await answer(run.calls[0], { error: 'There is no such city.' });

    expect(toolCall).toMatchObject({ status: 'failed', result: { success: false, error: 'There is no such city.' } });
  });

  it('may be an image, which is a blob of the account', async () => {
    const run = await parked();
    const { type: _, ...image } = pngSource({ width: 5, height: 7 });

    const { toolCall } = await answer(run.calls[0], callerResult.parse({ output: 'A map.', image }));

    const kept = toolCall.result?.image;
    expect(kept).toMatchObject({ media_type: 'image/png', width: 5, height: 7 });
    if (!kept) throw new Error('the result has an image');
    const { bytes } = await fixture.blobs.get({ accountId: fixture.accountId, sha256: kept.sha256 });
    expect(bytes.toString('base64')).toBe(image.data);
  });

  it('is bounded like that of any tool', async () => {
    const run = await parked();

    const { toolCall } = await answer(run.calls[0], { output: 'x'.repeat(150_000) });

    expect(toolCall.result?.truncated).toBe(true);
    expect(toolCall.result?.output.length).toBeLessThan(101_000);
    expect((await answer(run.calls[0], { output: 'x'.repeat(150_000) })).facts).toEqual([]);
  });

  it('is taken once: the same again changes nothing, and another one is refused', async () => {
    const run = await parked();
    await answer(run.calls[0]);
    const { last_seq: before } = await read(run);

    const { toolCall, facts } = await answer(run.calls[0]);

    expect([toolCall.status, facts]).toEqual(['completed', []]);
    expect(await refusal(answer(run.calls[0], { output: '19 °C' }))).toBe('tool_call_answered');
    expect(await refusal(answer(run.calls[0], { error: 'No.' }))).toBe('tool_call_answered');
    expect((await read(run)).last_seq).toBe(before);
  });

  it('is taken once from many at the same time', async () => {
    const run = await parked();

    const answers = await Promise.all(['1', '2', '3', '4'].map((output) => refusal(answer(run.calls[0], { output }))));

    expect(answers.toSorted()).toEqual(['taken', ...Array.from({ length: 3 }, () => 'tool_call_answered')].toSorted());
    expect((await readLog(run)).filter(({ type }) => type === 'tool.completed')).toHaveLength(1);
  });

  it('of several calls comes in any order, and the run goes on after the last', async () => {
    const run = await parked({ count: 3 });

    await answer(run.calls[2]);
    await answer(run.calls[0]);
    expect(await read(run)).toMatchObject({
      status: 'waiting_tool',
      waiting: { tool_calls: [{ tool_call_id: run.calls[1] }] },
    });
    await answer(run.calls[1]);

    expect((await read(run)).status).toBe('queued');
  });

  it('comes for several calls in one transaction, all or none', async () => {
    const run = await parked({ count: 2 });
    const stranger = { ...run, calls: [...run.calls, callId.parse('call_unknown')] };
    expect(await refusal(answerAll(stranger, [{ output: '1' }, { output: '2' }, { output: '3' }]))).toBe(
      'tool_call_not_found',
    );
    expect((await read(run)).status).toBe('waiting_tool');

    const { facts } = await answerAll(run, [{ output: '1' }, { error: 'No.' }]);

    expect(listTypes(facts)).toEqual([
      'tool.completed',
      'message.created',
      'tool.failed',
      'message.created',
      'run.resumed',
    ]);
    expect((await answerAll(run, [{ output: '1' }, { error: 'No.' }])).facts).toEqual([]);
    expect(await refusal(answerAll(run, [{ output: '1' }, { error: 'Yes.' }]))).toBe('tool_call_answered');
  });

  it('is refused for a call of another account, another tool, and one that was not sent', async () => {
    const run = await parked();
    const other = await newAccount(fixture.database);
    expect(await refusal(answer(run.calls[0], undefined, other))).toBe('tool_call_not_found');

    const claim = await fixture.claimed();
    const call = planned(claim, { name: 'execute_command' });
    await fixture.store.append(claim, [started, iterationStarted(1), call]);
    expect(await refusal(answer(call.data.tool_call.id))).toBe('tool_call_not_awaited');
    expect(await refusal(answer(callId.parse(`call_${nextId()}`)))).toBe('tool_call_not_found');
  });

  it('is refused after a stop, and the call is unknown', async () => {
    const run = await parked({ count: 2 });
    await answer(run.calls[0]);

    const stopped = await fixture.runs.requestStop({ ...address(run), reason: null });

    expect(stopped.run.status).toBe('stopped');
    expect(listTypes(await readLog(run)).slice(-4)).toEqual([
      'run.stop_requested',
      'tool.unknown',
      'message.created',
      'run.stopped',
    ]);
    expect(await refusal(answer(run.calls[1]))).toBe('tool_call_over');
    expect(await refusal(answer(run.calls[0]))).toBe('taken');
  });
});

describe('a call that is not answered in time', () => {
  const expired = (wish: Wish) => parked({ expiresInMs: -1, ...wish });

  it('takes no result any more, even before it was ended', async () => {
    expect(await refusal(answer((await expired({})).calls[0]))).toBe('tool_call_over');
  });

  it.each<[string, Wish, string[], string]>([
    ['has failed where it only reads', { isPure: true }, ['tool.failed', 'message.created', 'run.resumed'], 'queued'],
    ['is unknown where it may have taken effect', {}, ['tool.unknown', 'message.created', 'run.resumed'], 'queued'],
    ['is left to a person where the run says so', { policy: 'park' }, ['tool.unknown', 'run.resumed'], 'queued'],
  ])('%s', async (_, wish, facts, status) => {
    const run = await expired(wish);
    const { last_seq: before } = await read(run);

    await Promise.all([1, 2, 3].map(() => expireWaits(fixture.database, nextId)));
    await expireWaits(fixture.database, nextId);

    expect(listTypes((await readLog(run)).slice(before))).toEqual(facts);
    expect((await read(run)).status).toBe(status);
    expect(await refusal(answer(run.calls[0]))).toBe('tool_call_over');
  });

  it('leaves the run waiting for the others', async () => {
    const run = await parked({ count: 2 });
    const late = { ...(await read(run)).waiting };
    const [first, ...others] = late.tool_calls ?? [];
    const waiting = { ...late, tool_calls: [{ ...first, expires_at: new Date(0).toISOString() }, ...others] };
    await fixture.database.sql.query('update runs set waiting = $2::json where id = $1', [
      run.claim.runId,
      JSON.stringify(waiting),
    ]);

    await expireWaits(fixture.database, nextId);

    expect(await read(run)).toMatchObject({
      status: 'waiting_tool',
      waiting: { tool_calls: [{ tool_call_id: run.calls[1] }] },
    });
  });
});

describe('the list of calls that wait for their caller', () => {
  it('has their arguments and times, oldest first, of one run or all', async () => {
    const run = await parked({ count: 2 });
    const { accountId } = fixture;

    const { data } = await fixture.runs.listAwaitedCalls({ accountId, runId: run.claim.runId, limit: 10 });
    expect(data.map(({ id }) => id)).toEqual(run.calls);
    expect(data[0]).toMatchObject({
      ...{ run_id: run.claim.runId, thread_id: run.claim.threadId, name: 'get_weather', attempt: 1 },
      ...{ arguments: { city: 'Bergen' }, effect_class: 'unsafe', expires_at: expect.any(String) },
    });

    await answer(run.calls[0]);
    const first = await fixture.runs.listAwaitedCalls({ accountId, limit: 200 });
    expect(first.data.map(({ id }) => id)).toContain(run.calls[1]);
    expect(first.data.map(({ id }) => id)).not.toContain(run.calls[0]);
    const other = await newAccount(fixture.database);
    expect((await fixture.runs.listAwaitedCalls({ accountId: other, limit: 10 })).data).toEqual([]);
  });

  it('is not part of the inbox of people, and says in one sentence what the run waits for', async () => {
    const run = await parked();

    const inbox = await fixture.runs.inbox({ accountId: fixture.accountId, limit: 200 });
    expect(inbox.data.map(({ id }) => id)).not.toContain(run.claim.runId);
    expect(await fixture.runs.why(address(run))).toMatchObject({
      cause: 'caller_tools',
      sentence: expect.stringMatching(/^Waits for the caller's answer to get_weather, until 20\d\d-.*Z\.$/),
      tool_calls: [{ id: run.calls[0], name: 'get_weather' }],
    });
  });
});
