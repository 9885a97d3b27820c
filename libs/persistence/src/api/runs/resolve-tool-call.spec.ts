import { type CallId, type NewFact, callId } from '@rondo/contract';
import type { CallResolution, Claim } from '@rondo/domain';
import {
  type Planned,
  StoreFixture,
  iterationStarted,
  newAccount,
  planned,
  textInput,
  started,
  wholeReply,
  sent,
} from '../../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const createId = ({ data }: Planned): CallId => data.tool_call.id;

const lost = (call: Planned): NewFact[] => [
  sent(call),
  {
    type: 'tool.unknown',
    iteration: 1,
    data: {
      tool_call_id: createId(call),
      name: call.data.tool_call.name,
      reason: 'The executor died while the tool ran.',
    },
  },
];

const asks = (call: Planned): NewFact => ({
  type: 'run.waiting',
  iteration: 1,
  data: { reason: 'tool_unknown', question: { text: 'Did it?', attachments: [], tool_call_id: createId(call) } },
});

interface Parked {
  readonly claim: Claim;
  readonly first: CallId;
  readonly last: CallId;
}

/** A run that waits for a person to say what became of its first calls; where there are more, those were not sent. */
async function parked({ inDoubt = 1, unsent = 0 } = {}): Promise<Parked> {
  const claim = await fixture.claimed();
  const calls = Array.from({ length: inDoubt + unsent }, (_, index) => planned(claim, { name: 'http_request', index }));
  const [first, last] = [calls[0], calls.at(-1)];
  if (!first || !last) throw new Error('at least one call is in doubt');
  const doubts = calls.slice(0, inDoubt).flatMap(lost);
  await fixture.store.append(claim, [...wholeReply(claim, calls), ...doubts, asks(first)]);
  await fixture.published();
  return { claim, first: createId(first), last: createId(last) };
}

const resolve = (id: CallId, ruling: CallResolution = { outcome: 'completed' }, accountId = fixture.accountId) =>
  fixture.runs.resolve({ accountId, callId: id, ...ruling });

const readRun = ({ claim: { runId } }: Parked) => fixture.runs.get({ accountId: fixture.accountId, runId });
const readLedger = async ({ claim: { runId } }: Parked) =>
  (await fixture.runs.toolCalls({ accountId: fixture.accountId, runId }, { limit: 10 })).data;
const listTypes = (facts: readonly { type: string }[]) => facts.map(({ type }) => type);

describe('the word on a call whose outcome is unknown', () => {
  it('completes it in the ledger, tells the model, and has the run go on (I5)', async () => {
    const run = await parked();

    const { toolCall, facts } = await resolve(run.first, { outcome: 'completed', output: 'built' });

    expect(listTypes(facts)).toEqual(['tool.resolved', 'tool.completed', 'message.created', 'run.resumed']);
    expect(facts.at(-1)).toMatchObject({ data: { reason: 'tool_resolved' } });
    expect(toolCall).toMatchObject({
      status: 'completed',
      result: { success: true, output: expect.stringContaining('built') },
      finished_at: expect.any(String),
    });
    expect(await readRun(run)).toMatchObject({ status: 'queued', waiting: null });
    expect(await fixture.published()).toMatchObject([{ key: `${run.claim.runId}-2` }]);
    expect(await fixture.runs.verify({ accountId: fixture.accountId, runId: run.claim.runId })).toMatchObject({
      contiguous: true,
    });
  });

  it('fails it where it was not applied', async () => {
    const { toolCall } = await resolve((await parked()).first, { outcome: 'not_applied' });

    expect(toolCall).toMatchObject({ status: 'failed', result: { success: false } });
  });

  it('plans it anew where it is to be tried again, and tells the model nothing yet', async () => {
    const run = await parked();

    const { toolCall, facts } = await resolve(run.first, { outcome: 'retry' });

    expect(listTypes(facts)).toEqual(['tool.resolved', 'run.resumed']);
    expect(toolCall).toMatchObject({ status: 'planned', result: null, attempt: 1, finished_at: null });
    expect((await fixture.claim(run.claim.runId, 'worker-2')).log.at(-1)).toMatchObject({ type: 'run.resumed' });
  });

  it('shows the call as unknown and unfinished while it awaits one', async () => {
    expect(await readLedger(await parked())).toMatchObject([{ status: 'unknown', attempt: 1, finished_at: null }]);
  });

  it('leads to the question about the next call, and to work only after the last', async () => {
    const run = await parked({ inDoubt: 2 });

    const { facts } = await resolve(run.first);
    expect(listTypes(facts).at(-1)).toBe('run.waiting');
    expect(await readRun(run)).toMatchObject({
      status: 'waiting_input',
      waiting: { question: { tool_call_id: run.last } },
    });
    expect(await fixture.published()).toEqual([]);

    await resolve(run.last, { outcome: 'not_applied' });
    expect((await readLedger(run)).map(({ status }) => status)).toEqual(['completed', 'failed']);
    expect(await fixture.published()).toHaveLength(1);
  });

  it('is the first of many that are given at once, and one only', async () => {
    for (let round = 0; round < 10; round += 1) {
      const run = await parked();
      const outcomes = (['completed', 'not_applied', 'retry'] as const).map((outcome) =>
        resolve(run.first, { outcome }),
      );

      const results = await Promise.allSettled(outcomes);

      const refused = results.filter(({ status }) => status === 'rejected');
      expect(refused).toMatchObject([1, 2].map(() => ({ reason: { code: 'tool_call_not_unknown' } })));
      const { data } = await fixture.runs.events(
        { accountId: fixture.accountId, runId: run.claim.runId },
        { after: 0, limit: 99 },
      );
      expect(data.filter(({ type }) => type === 'tool.resolved')).toHaveLength(1);
    }
  });

  it('and a stop that race leave one decision, and each call with one answer (I3, I6)', async () => {
    for (let round = 0; round < 10; round += 1) {
      const run = await parked();
      const { runId } = run.claim;

      await Promise.allSettled([
        resolve(run.first),
        fixture.runs.requestStop({ accountId: fixture.accountId, runId, reason: null }),
      ]);

      const { data } = await fixture.runs.events({ accountId: fixture.accountId, runId }, { after: 0, limit: 99 });
      expect(data.at(-1)?.type).toBe('run.stopped');
      const answers = data.filter((fact) => fact.type === 'message.created' && fact.data.message.type === 'tool');
      expect(answers).toHaveLength(1);
    }
  });

  it('is refused for a call that awaits none', async () => {
    const run = await parked();
    await resolve(run.first);
    await expect(resolve(run.first)).rejects.toMatchObject({ code: 'tool_call_not_unknown' });

    const claim = await fixture.claimed();
    const call = planned(claim, { name: 'http_request' });
    await fixture.store.append(claim, [started, iterationStarted(1), call, ...lost(call)]);
    await expect(resolve(createId(call))).rejects.toMatchObject({ code: 'tool_call_not_unknown' });
  });

  it('is refused for a call that is not there, is a stranger’s, or went with its thread', async () => {
    const run = await parked();
    const stranger = await newAccount(fixture.database);
    const notFound = { code: 'tool_call_not_found' };

    await expect(resolve(callId.parse('call_none'))).rejects.toMatchObject(notFound);
    await expect(resolve(run.first, { outcome: 'completed' }, stranger)).rejects.toMatchObject(notFound);
    const { accountId } = fixture;
    await fixture.runs.requestStop({ accountId, runId: run.claim.runId, reason: null });
    await fixture.threads.delete({ accountId, threadId: run.claim.threadId });
    await expect(resolve(run.first)).rejects.toMatchObject(notFound);
  });
});

describe('a run in doubt', () => {
  it('takes no answer to a question that it did not ask, and says what to do instead', async () => {
    const run = await parked();
    const { accountId } = fixture;

    await expect(
      fixture.runs.answer({ accountId, runId: run.claim.runId, content: textInput('Yes.') }),
    ).rejects.toMatchObject({
      code: 'run_not_waiting',
      message: expect.stringContaining(`/v1/tool-calls/${run.first}/resolve`),
    });
  });

  it('that is stopped answers its calls in the same transaction, honestly (I6)', async () => {
    const run = await parked({ inDoubt: 1, unsent: 1 });

    const { run: stopped, facts } = await fixture.runs.requestStop({
      accountId: fixture.accountId,
      runId: run.claim.runId,
      reason: 'enough',
    });

    expect(stopped).toMatchObject({ status: 'stopped', waiting: null });
    expect(listTypes(facts)).toEqual([
      'run.stop_requested',
      'tool.unknown',
      'message.created',
      'tool.failed',
      'message.created',
      'run.stopped',
    ]);
    expect(facts.at(-1)).toMatchObject({ data: { receipt: { sandbox_verified_at: null } } });
    expect(await readLedger(run)).toMatchObject([
      { status: 'unknown', finished_at: expect.any(String) },
      { status: 'failed', attempt: 0 },
    ]);
  });

  it('that is replaced does so too, and makes way at once', async () => {
    const run = await parked();

    const { run: next, facts } = await fixture.create({ threadId: run.claim.threadId, onActiveRun: 'replace' });

    expect(listTypes(facts)).toEqual([
      'run.stop_requested',
      'tool.unknown',
      'message.created',
      'run.stopped',
      'run.created',
      'message.created',
    ]);
    expect((await fixture.claim(next.id)).earlier.map(({ type }) => type)).toEqual(['user', 'assistant', 'tool']);
  });

  it('whose worker died before it could ask is ended by a stop with its call answered (I6)', async () => {
    const claim = await fixture.claimed();
    const call = planned(claim, { name: 'http_request' });
    await fixture.store.append(claim, [...wholeReply(claim, [call]), ...lost(call)]);
    await fixture.store.handOver(claim);

    const { facts } = await fixture.runs.requestStop({
      accountId: fixture.accountId,
      runId: claim.runId,
      reason: null,
    });

    expect(listTypes(facts)).toEqual(['run.stop_requested', 'tool.unknown', 'message.created', 'run.stopped']);
  });
});
