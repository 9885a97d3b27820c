import { type NewFact, messageId, runId } from '@rondo/contract';
import {
  StoreFixture,
  iterationStarted,
  newAccount,
  nextId,
  planned,
  started,
  waits,
  sent,
} from '../../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const why = (id: string) => fixture.runs.why({ accountId: fixture.accountId, runId: runId.parse(id) });

const retried: NewFact = {
  type: 'model.retried',
  iteration: 1,
  data: { attempt: 1, delay_ms: 60_000, error: { code: 'model_overloaded', message: 'Too busy.' } },
};

describe('what a stored run waits for', () => {
  it('counts the due runs of its own account that are before it', async () => {
    const accountId = await newAccount(fixture.database);
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await fixture.create({ accountId })).run.id);
    const [first = '', , third = ''] = ids;

    const ahead = async (id: string) => (await fixture.runs.why({ accountId, runId: runId.parse(id) })).ahead;
    expect([await ahead(first), await ahead(third)]).toEqual([0, 2]);

    await fixture.claim(runId.parse(first));
    expect([await ahead(first), await ahead(third)]).toEqual([undefined, 1]);
  });

  it('says what only a newer version knows of it', async () => {
    const { run } = await fixture.create();
    await fixture.database.sql.query(`update run_events set type = 'plan.changed' where run_id = $1 and seq = 2`, [
      run.id,
    ]);

    await expect(why(run.id)).resolves.toMatchObject({
      cause: 'queue',
      sentence: expect.stringContaining('newer version') as unknown,
    });
  });

  it('names the run that is active on its thread', async () => {
    const { run: active } = await fixture.create();
    const queued = { threadId: active.thread_id, onActiveRun: 'queue' as const };
    const second = (await fixture.create(queued)).run;
    const third = (await fixture.create(queued)).run;

    await expect(why(second.id)).resolves.toMatchObject({ cause: 'thread', behind_run_id: active.id, ahead: 0 });
    await expect(why(third.id)).resolves.toMatchObject({ cause: 'thread', behind_run_id: active.id, ahead: 1 });
  });

  it('follows a run from its model over a retry and a tool to a question', async () => {
    const claim = await fixture.claimed();
    await expect(why(claim.runId)).resolves.toMatchObject({ cause: 'worker' });

    const preparing: NewFact = {
      type: 'workspace.preparing',
      iteration: 0,
      data: { repository: null, files: [], egress: null, packages: { pip: ['requests==2.32.3'] } },
    };
    await fixture.store.append(claim, [preparing]);
    await expect(why(claim.runId)).resolves.toMatchObject({
      cause: 'workspace',
      sentence: 'Prepares the workspace: the packages requests==2.32.3.',
    });

    await fixture.store.append(claim, [started, iterationStarted(1)]);
    await expect(why(claim.runId)).resolves.toMatchObject({ cause: 'model' });

    await fixture.store.append(claim, [retried]);
    const { cause, since, until = '' } = await why(claim.runId);
    expect([cause, Date.parse(until) - Date.parse(since)]).toEqual(['model_retry', 60_000]);

    const call = planned(claim, { name: 'http_request', index: 0 });
    const { id, name } = call.data.tool_call;
    await fixture.store.append(claim, [call, sent(call)]);
    await expect(why(claim.runId)).resolves.toMatchObject({
      cause: 'tool',
      tool_calls: [{ id, name, since: expect.stringMatching(/Z$/) }],
    });

    const lost: NewFact = {
      type: 'tool.unknown',
      iteration: 1,
      data: { tool_call_id: id, name, reason: 'lost', message_id: messageId.parse(`msg_${nextId()}`) },
    };
    await fixture.store.append(claim, [lost, waits]);
    await expect(why(claim.runId)).resolves.toMatchObject({
      cause: 'answer',
      sentence: 'Waits for an answer to: Which?',
    });
  });

  it('sees that the worker of a run has gone', async () => {
    const { runId: id } = await fixture.claimed();
    await fixture.expireLease(id);
    await expect(why(id)).resolves.toMatchObject({ cause: 'takeover' });
  });

  it('is not told to another account', async () => {
    const { run } = await fixture.create();
    const accountId = await newAccount(fixture.database);
    await expect(fixture.runs.why({ accountId, runId: run.id })).rejects.toMatchObject({ code: 'run_not_found' });
  });
});
