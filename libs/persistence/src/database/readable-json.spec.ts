import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type NewFact, callId, toApprovalId } from '@rondo/contract';
import type { Claim } from '@rondo/domain';
import { IdempotencyKeys } from '../api/idempotency-keys';
import { MemoryStores } from '../api/memory/memory-stores';
import { PostgresRunMemory } from '../api/memory/run-memory';
import { runsNotToWait } from '../api/runs/child-runs/runs-below';
import { resumeForTreeBudget } from '../api/runs/child-runs/tree-budget';
import { parentsOfEndedChildren } from '../api/runs/child-runs/collect-children';
import { expireWaits } from '../api/runs/expire-waits';
import { WorkAhead } from '../api/work-ahead';
import { Purge } from '../retention/purge';
import { StoreFixture, iterationStarted, nextId, planned, reply, started } from '../testing/store-fixture';

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.open();
});
afterEach(() => fixture.close());

const unreadable = 'a\0b \ud800 "\\u0000"';

const asks = (text: string): NewFact => ({
  type: 'run.waiting',
  iteration: 1,
  data: { reason: 'ask', question: { text, attachments: [], tool_call_id: callId.parse('call_1') } },
});

async function waitsForApproval(claim: Claim): Promise<void> {
  const call = planned(claim, { name: 'execute_command', input: { command: 'make' } });
  const { id, name } = call.data.tool_call;
  const past = new Date(0).toISOString();
  const approval = { approval_id: toApprovalId(id), tool_call_id: id, name, requested_at: past, expires_at: past };
  await fixture.store.append(claim, [
    ...[started, iterationStarted(1), call],
    { type: 'approval.requested', iteration: 1, data: approval },
    { type: 'run.waiting', iteration: 1, data: { reason: 'approval', approvals: [approval] } },
  ]);
}

describe('a question that Postgres cannot read', () => {
  it('keeps no wait of other runs from ending', async () => {
    const asking = await fixture.claimed();
    await fixture.store.append(asking, [started, iterationStarted(1), asks(unreadable)]);
    const { accountId } = fixture;
    await waitsForApproval(await fixture.claimed());

    await expect(new WorkAhead(fixture.database, ['expiringWaits']).within(0)).resolves.toBe(true);
    expect((await fixture.runs.openApprovals({ accountId, limit: 9 })).data).toHaveLength(1);
    expect((await fixture.runs.listAwaitedCalls({ accountId, limit: 9 })).data).toEqual([]);
    expect(await expireWaits(fixture.database, nextId)).toMatchObject([
      { type: 'approval.decided', data: { outcome: 'expire' } },
      {},
      {},
      {},
    ]);
  });

  it('keeps no sweep over all runs from its work', async () => {
    const asking = await fixture.claimed();
    await fixture.store.append(asking, [started, iterationStarted(1), asks(unreadable)]);
    const { sql } = fixture.database;
    await sql.query(`update runs set status = 'waiting_budget', settings = $1::json`, [JSON.stringify({ unreadable })]);

    await expect(resumeForTreeBudget(fixture.database, nextId)).resolves.toEqual([]);
    await sql.query(`update runs set status = 'waiting_child'`);
    await expect(parentsOfEndedChildren(sql)).resolves.toEqual([]);
    await expect(runsNotToWait(sql)).resolves.toEqual([]);
  });
});

it('a call whose arguments Postgres cannot read keeps no later one from writing to a memory', async () => {
  const claim = await fixture.claimed();
  const scope = { project_id: null, agent_id: null, user: null };
  const stores = new MemoryStores(fixture.database, nextId);
  const { id: store } = await stores.create(fixture.accountId, { name: 'notes', description: '', ...scope });
  const write = planned(claim, { name: 'memory_write', index: 1 });
  await fixture.store.append(claim, [started, planned(claim, { name: 'x', input: { unreadable } }), write]);

  const entry = { path: 'a.md', content: 'A', ifVersion: undefined, callId: write.data.tool_call.id };
  const memory = new PostgresRunMemory(fixture.database, claim);
  await expect(memory.write(store, entry)).resolves.toMatchObject({ how: 'done' });
});

it('says what a run waits for whose last fact Postgres cannot read', async () => {
  const claim = await fixture.claimed();
  await fixture.store.append(claim, [started, iterationStarted(1), reply(claim, unreadable)]);

  const why = fixture.runs.why({ accountId: fixture.accountId, runId: claim.runId });
  await expect(why).resolves.toMatchObject({ cause: 'worker' });
});

it('deletes a thread although a stored response of its account is one that Postgres cannot read', async () => {
  const { accountId } = fixture;
  const request = { accountId, key: 'key', requestHash: 'hash' };
  await new IdempotencyKeys(fixture.database).begin(request);
  const promised = { request, answer: (body: unknown) => ({ status: 202, body, location: null }) };
  await fixture.create({ metadata: { unreadable }, promised });
  const { run } = await fixture.create();
  await fixture.runs.requestStop({ accountId, runId: run.id, reason: null });
  await fixture.threads.delete({ accountId, threadId: run.thread_id });

  const purge = new Purge({ database: fixture.database, newId: nextId, onStopped: () => undefined });
  while (await purge.some());
  expect(await fixture.database.sql.query('select from runs where id = $1', [run.id])).toEqual([]);
});

describe('what a statement reads of JSON that others write', () => {
  const source = join(__dirname, '..');
  /** Their facts have only ids, times and names of tools, or texts that the API has made well-formed. */
  const known = ['api/runs/approvals.ts', 'api/runs/decide-approval.ts', 'run-log/claim-history.ts'];
  const fields = /\b(?:data|waiting|settings|response|arguments|result|content)(?:::jsonb?)?\s*(?:->|#>)/;

  it('is read by readableJson', () => {
    const paths = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.ts') && !path.endsWith('.spec.ts') && !path.startsWith('generated'),
    );
    const found = paths.filter((path) => fields.test(readFileSync(join(source, path), 'utf8')));
    expect(found.filter((path) => !known.includes(path))).toEqual([]);
  });
});
