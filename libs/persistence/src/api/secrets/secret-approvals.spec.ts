import { type ApprovalId, type RunId, type SecretRequest, secretId } from '@rondo/contract';
import { StoreFixture, completed, iterationStarted, nextId, settings, started } from '../../testing/store-fixture';
import { expireWaits } from '../runs/expire-waits';
import { Audiences } from '../users/audience';
import { SecretOpenings } from './secret-openings';
import { SecretUses } from './secret-uses';
import { Secrets } from './secrets';

let fixture: StoreFixture;
let openings: SecretOpenings;
let id: ReturnType<typeof secretId.parse>;
beforeEach(async () => {
  fixture = await StoreFixture.open();
  openings = new SecretOpenings(fixture.database, nextId);
  id = secretId.parse(`sec_${nextId()}`);
  await new Secrets(fixture.database).create({
    ...{ accountId: fixture.accountId, secretId: id, name: 'TOKEN', projectId: null, sealed: 'sealed' },
    fields: {
      ...{ description: '', allowed_hosts: ['api.example'], methods: ['GET'], expires_at: null, approval: 'first_use' },
      placement: { in: 'query', name: 'key' },
    },
  });
});
afterEach(() => fixture.close());

const request: SecretRequest = { protocol: 'https:', host: 'api.example', port: 443, method: 'GET', path: '/a' };
const newRun = async (approvals = settings.approvals): Promise<RunId> => {
  const given = { ...settings, secrets: ['TOKEN'], ...(approvals && { approvals }) };
  return (await fixture.create({ settings: given })).run.id;
};
const open = (runId: RunId | null, more: object = {}) =>
  openings.open({
    ...{ accountId: fixture.accountId, runId, callId: null, name: 'TOKEN', via: 'sandbox', request },
    ...more,
  });
const readFacts = async (runId: RunId) =>
  (await fixture.runs.events({ accountId: fixture.accountId, runId }, { after: 0, limit: 99 })).data;

async function ask(run: RunId): Promise<ApprovalId> {
  const asked = await open(run);
  if (asked.how !== 'awaits') throw new Error('it was not asked for');
  return asked.approval_id;
}

async function decide(approvalId: ApprovalId, decision: 'approve' | 'deny' | 'edit', reason?: string) {
  const address = { accountId: fixture.accountId, approvalId };
  const { arguments_hash: argumentsHash } = await fixture.runs.approval(address);
  return fixture.runs.decide({ ...address, decision, argumentsHash, decidedBy: 'key_1', reason });
}

describe('a secret whose first use needs approval', () => {
  it('is asked for once by a run that goes on, in the inbox and among the approvals', async () => {
    const run = await newRun();
    const claim = await fixture.claim(run);
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    const approval = await ask(run);

    expect(await ask(run)).toBe(approval);
    await fixture.store.append(claim, [iterationStarted(2)]);
    const { accountId } = fixture;
    const { data: inbox } = await fixture.runs.inbox({ accountId, limit: 10 });
    expect(inbox).toMatchObject([
      {
        ...{ id: run, status: 'running' },
        waiting: { reason: 'approval', approvals: [{ approval_id: approval, name: 'use_secret' }] },
      },
    ]);
    expect((await fixture.runs.openApprovals({ accountId, limit: 10 })).data).toMatchObject([
      {
        ...{ id: approval, run_id: run, tool_call_id: null, name: 'use_secret', outcome: null },
        arguments: { secret: 'TOKEN', host: 'api.example', method: 'GET', path: '/a' },
      },
    ]);
    expect(await fixture.runs.why({ accountId, runId: run })).toMatchObject({
      cause: 'approval',
      sentence: 'Waits for a person to allow the secret TOKEN, for a request to api.example.',
    });
    expect((await readFacts(run)).map(({ type }) => type).slice(-2)).toEqual(['secret.requested', 'iteration.started']);
  });

  it('is used by all requests of the run once a person has allowed it, and asked for by the next run anew', async () => {
    const [run, other] = [await newRun(), await newRun()];
    const { facts } = await decide(await ask(run), 'approve');

    expect(facts).toMatchObject([{ type: 'secret.decided', data: { outcome: 'approve', decided_by: 'key_1' } }]);
    expect(await open(run)).toMatchObject({ how: 'opened' });
    expect(await open(run, { request: { ...request, path: '/b' } })).toMatchObject({ how: 'opened' });
    expect(await open(other)).toMatchObject({ how: 'awaits' });
  });

  it('is refused with the reason of the person who denied it, which is recorded for each request', async () => {
    const run = await newRun();
    const approval = await ask(run);
    await decide(approval, 'deny', 'Not this host.');

    expect(await open(run)).toEqual({ how: 'refused', refusal: 'denied', reason: 'Not this host.' });
    const uses = await new SecretUses(fixture.database).list({ accountId: fixture.accountId, runId: run, limit: 10 });
    expect(uses.data).toMatchObject([{ refusal: 'denied' }]);
    await expect(decide(approval, 'approve')).rejects.toMatchObject({ code: 'approval_not_open' });
  });

  it('is refused when the time for the decision is over', async () => {
    const run = await newRun({ rules: {}, expires_s: 1 });
    const approval = await ask(run);
    await fixture.database.sql.query(`update secret_approvals set expires_at = clock_timestamp() where id = $1`, [
      approval,
    ]);

    expect(await open(run)).toEqual({ how: 'refused', refusal: 'not_approved' });
    await expect(decide(approval, 'approve')).rejects.toMatchObject({ code: 'approval_not_open' });
    expect(await expireWaits(fixture.database, nextId)).toMatchObject([
      { type: 'secret.decided', data: { approval_id: approval, outcome: 'expire', decided_by: null } },
    ]);
    expect(await expireWaits(fixture.database, nextId)).toEqual([]);
  });

  it('cannot be edited, and nothing is decided when the run is over', async () => {
    const run = await newRun();
    const approval = await ask(run);

    await expect(decide(approval, 'edit')).rejects.toMatchObject({ code: 'invalid_request' });
    await fixture.store.append(await fixture.claim(run), [started, completed]);
    await expect(decide(approval, 'approve')).rejects.toMatchObject({ code: 'approval_not_open' });
    expect((await fixture.runs.inbox({ accountId: fixture.accountId, limit: 10 })).data).toEqual([]);
  });

  it('cannot be allowed where no run would use it', async () => {
    expect(await open(null, { via: 'mcp' })).toEqual({ how: 'refused', refusal: 'not_approved' });
  });

  it('is decided with a token of the thread, and with none of another', async () => {
    const [run, other] = [await newRun(), await newRun()];
    const approval = await ask(run);
    const reaches = async (of: RunId) => {
      const { thread_id: threadId } = await fixture.runs.get({ accountId: fixture.accountId, runId: of });
      const audience = { user: null, threadId };
      const question = { accountId: fixture.accountId, audience, name: 'approval_id' as const, id: approval };
      return new Audiences(fixture.database).reaches(question);
    };

    expect([await reaches(run), await reaches(other)]).toEqual([true, false]);
  });
});
