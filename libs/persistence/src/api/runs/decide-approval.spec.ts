import { type ApprovalId, type NewFact, toApprovalId } from '@rondo/contract';
import type { Claim } from '@rondo/domain';
import {
  StoreFixture,
  iterationStarted,
  newAccount,
  nextId,
  planned,
  started,
  textInput,
} from '../../testing/store-fixture';
import type { ApprovalOrder } from './decide-approval';
import { expireWaits } from './expire-waits';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

interface Parked {
  readonly claim: Claim;
  readonly approvals: ApprovalId[];
}

/** A run that waits for approvals. */
async function parked({ count = 1, expiresInMs = 60_000 } = {}): Promise<Parked> {
  const claim = await fixture.claimed();
  const input = { command: 'make', blocking: true };
  const calls = Array.from({ length: count }, (_, index) => planned(claim, { name: 'execute_command', input, index }));
  const awaited = calls.map(({ data: { tool_call: call } }) => ({
    ...{ approval_id: toApprovalId(call.id), tool_call_id: call.id, name: call.name },
    requested_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + expiresInMs).toISOString(),
  }));
  const requested = awaited.map((data): NewFact => ({ type: 'approval.requested', iteration: 1, data }));
  const waits: NewFact = { type: 'run.waiting', iteration: 1, data: { reason: 'approval', approvals: awaited } };
  await fixture.store.append(claim, [started, iterationStarted(1), ...calls, ...requested, waits]);
  await fixture.published();
  return { claim, approvals: awaited.map(({ approval_id: id }) => id) };
}

const read = (approvalId: ApprovalId) => fixture.runs.approval({ accountId: fixture.accountId, approvalId });

async function decide(id: ApprovalId | undefined, order: Partial<ApprovalOrder> = {}) {
  if (!id) throw new Error('the run has such an approval');
  const argumentsHash = order.argumentsHash ?? (await read(id)).arguments_hash;
  const { accountId } = fixture;
  return fixture.runs.decide({
    accountId,
    approvalId: id,
    decision: 'approve',
    decidedBy: 'key_1',
    ...order,
    argumentsHash,
  });
}

const readLog = async ({ claim: { runId } }: Parked) =>
  (await fixture.runs.events({ accountId: fixture.accountId, runId }, { after: 0, limit: 99 })).data;
const listTypes = (facts: readonly { type: string }[]) => facts.map(({ type }) => type);
const readRun = ({ claim: { runId } }: Parked) => fixture.runs.get({ accountId: fixture.accountId, runId });

describe('a decision about a call', () => {
  it('is committed with the resumption of the run and its job', async () => {
    const run = await parked();

    const { approval, facts } = await decide(run.approvals[0]);

    expect(listTypes(facts)).toEqual(['approval.decided', 'run.resumed']);
    expect(approval).toMatchObject({ outcome: 'approve', decided_by: 'key_1', decided_at: expect.any(String) });
    expect(await readRun(run)).toMatchObject({ status: 'queued', waiting: null });
    expect(await fixture.published()).toMatchObject([{ key: `${run.claim.runId}-2` }]);
    const claim = await fixture.claim(run.claim.runId, 'worker-2');
    expect(listTypes(claim.log).slice(-2)).toEqual(['approval.decided', 'run.resumed']);
  });

  it('changes the call in the ledger where it edits it, and names the arguments that were seen', async () => {
    const run = await parked();
    const before = await read(run.approvals[0] as ApprovalId); // it has one
    const edited = { command: 'make check', blocking: true };

    const { approval } = await decide(run.approvals[0], { decision: 'edit', arguments: edited });

    expect(approval).toMatchObject({ outcome: 'edit', arguments: edited, arguments_hash: before.arguments_hash });
    const { data } = await fixture.runs.toolCalls(
      { accountId: fixture.accountId, runId: run.claim.runId },
      { limit: 9 },
    );
    expect(data).toMatchObject([{ arguments: edited, effect_class: 'unsafe', status: 'planned' }]);
  });

  it('and others that are made with it are one transaction: all are accepted, or none is', async () => {
    const run = await parked({ count: 2 });
    const orders = await Promise.all(
      run.approvals.map(async (approvalId) => ({
        ...{ accountId: fixture.accountId, approvalId, decision: 'approve' as const, decidedBy: 'key_1' },
        argumentsHash: (await read(approvalId)).arguments_hash,
      })),
    );
    const [first, second] = orders.map((order, index) => (index === 1 ? { ...order, argumentsHash: 'other' } : order));
    if (!first || !second) throw new Error('the run has two approvals');

    await expect(fixture.runs.decideTogether([first, second])).rejects.toMatchObject({ code: 'arguments_changed' });
    expect(listTypes(await readLog(run))).not.toContain('approval.decided');

    const decided = await fixture.runs.decideTogether(orders);
    expect(decided.map(({ facts }) => listTypes(facts))).toEqual([
      ['approval.decided'],
      ['approval.decided', 'run.resumed'],
    ]);
    expect(await readRun(run)).toMatchObject({ status: 'queued', waiting: null });
  });

  it('is the first of many that are made at once, and one only', async () => {
    for (let round = 0; round < 10; round++) {
      const run = await parked();
      const decisions = (['approve', 'deny', 'approve'] as const).map((decision) =>
        decide(run.approvals[0], { decision }),
      );

      const results = await Promise.allSettled(decisions);

      const refused = results.filter(({ status }) => status === 'rejected');
      expect(refused).toMatchObject([1, 2].map(() => ({ reason: { code: 'approval_not_open' } })));
      expect(listTypes(await readLog(run)).filter((type) => type === 'approval.decided')).toHaveLength(1);
    }
  });

  it('and others of the same run that race are all applied, and the run resumes once', async () => {
    for (let round = 0; round < 10; round++) {
      const run = await parked({ count: 3 });

      await Promise.all(run.approvals.map((id, index) => decide(id, { decision: index === 1 ? 'deny' : 'approve' })));

      const types = listTypes(await readLog(run));
      expect(types.filter((type) => type === 'approval.decided')).toHaveLength(3);
      expect(types.filter((type) => type === 'run.resumed')).toHaveLength(1);
      expect(await fixture.published()).toHaveLength(1);
    }
  });

  it('and a stop that race leave each call with one answer (I2, I6)', async () => {
    for (let round = 0; round < 10; round++) {
      const run = await parked();
      const address = { accountId: fixture.accountId, runId: run.claim.runId };

      await Promise.allSettled([decide(run.approvals[0]), fixture.runs.requestStop({ ...address, reason: null })]);
      const state = await readRun(run);
      if (state.status === 'stopping') continue; // a worker ends it

      const types = listTypes(await readLog(run));
      expect(types.at(-1)).toBe('run.stopped');
      expect(types.filter((type) => type === 'tool.failed')).toHaveLength(1);
    }
  });

  it('is refused for other arguments, another account, and a call that was never asked about', async () => {
    const run = await parked();
    const [id] = run.approvals;
    await expect(decide(id, { argumentsHash: 'other' })).rejects.toMatchObject({ code: 'arguments_changed' });
    const stranger = await newAccount(fixture.database);
    await expect(decide(id, { accountId: stranger })).rejects.toMatchObject({ code: 'approval_not_found' });

    const claim = await fixture.claimed();
    const call = planned(claim, { name: 'execute_command' });
    await fixture.store.append(claim, [started, iterationStarted(1), call]);
    const never = toApprovalId(call.data.tool_call.id);
    await expect(decide(never, { argumentsHash: 'x' })).rejects.toMatchObject({ code: 'approval_not_found' });
  });

  it('is not an answer to a question', async () => {
    const { claim } = await parked();
    const answer = { accountId: fixture.accountId, runId: claim.runId, content: textInput('Yes.') };

    await expect(fixture.runs.answer(answer)).rejects.toMatchObject({ code: 'run_not_waiting' });
  });
});

describe('an approval that expires', () => {
  it('denies its call once, however many workers look, and leaves the others', async () => {
    const late = await parked({ count: 2, expiresInMs: -1_000 });
    const inTime = await parked();
    await expect(decide(late.approvals[0])).rejects.toMatchObject({ code: 'approval_not_open' });

    await Promise.all([1, 2, 3].map(() => expireWaits(fixture.database, nextId)));
    await expireWaits(fixture.database, nextId);

    const types = listTypes(await readLog(late));
    expect(types.filter((type) => type === 'approval.decided')).toHaveLength(2);
    expect(types.filter((type) => type === 'run.resumed')).toHaveLength(1);
    expect(await read(late.approvals[1] as ApprovalId)).toMatchObject({ outcome: 'expire', decided_by: null }); // it has two
    expect(await readRun(inTime)).toMatchObject({ status: 'waiting_input' });
  });
});
