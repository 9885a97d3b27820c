import { type NewFact, type RunId, messageId } from '@rondo/contract';
import type { ClaimedRun } from '@rondo/domain';
import { Retention } from '../../retention/retention';
import {
  StoreFixture,
  iterationStarted,
  nextId,
  planned,
  reply,
  sent,
  settings,
  textInput,
  usage,
  waits,
  wholeReply,
} from '../../testing/store-fixture';
import { RowComparison, readRowsOfRun } from './compare-rows';
import { allPages } from './read-log';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const address = (runId: RunId) => ({ accountId: fixture.accountId, runId });
const verify = async (runId: RunId) => (await fixture.runs.verify(address(runId))).differences;
const change = (statement: string, values: readonly unknown[]) => fixture.database.sql.query(statement, values);

const used = { input_tokens: 10, cached_tokens: 0, output_tokens: 5, cost_usd: 0.5 };
const end: NewFact = { type: 'run.completed', iteration: 1, data: { finish_reason: 'stop', usage: used } };

/** A run with one call, whose result is no text that Postgres could read as JSON. */
async function recordRun(): Promise<ClaimedRun> {
  const claim = await fixture.claimed();
  const call = planned(claim, { name: 'read\0file', input: { file_path: 'a\0.txt', 7: [1e21, -0] } });
  const { id, name } = call.data.tool_call;
  const result = { success: true, output: 'a \0 and \ud800' };
  const message_id = messageId.parse(`msg_${nextId()}`);
  await fixture.store.append(claim, [...wholeReply(claim, [call]), sent(call)]);
  await fixture.store.append(claim, [
    { type: 'tool.completed', iteration: 1, data: { tool_call_id: id, name, result, duration_ms: 1, message_id } },
    reply(claim, 'Found.', message_id),
  ]);
  return claim;
}

async function recordEndedRun(): Promise<RunId> {
  const claim = await recordRun();
  await fixture.store.append(claim, [end]);
  return claim.runId;
}

describe('the rows beside a log', () => {
  it('say what it says while a run is at work, when it waits and when it is over', async () => {
    const claim = await recordRun();
    expect(await verify(claim.runId)).toBeUndefined();

    await fixture.store.append(claim, [waits]);
    expect(await verify(claim.runId)).toBeUndefined();

    await fixture.runs.answer({ ...address(claim.runId), content: textInput('That one.') });
    expect(await verify(claim.runId)).toBeUndefined();

    const again = await fixture.claim(claim.runId);
    await fixture.runs.requestStop({ ...address(claim.runId), reason: null });
    expect(await verify(claim.runId)).toBeUndefined();

    await fixture.store.append(again, [{ ...usage({ cost_usd: null }), iteration: 2 }]);
    expect(await verify(claim.runId)).toBeUndefined();
  });

  it('may have gone on while the log is read', async () => {
    const claim = await recordRun();
    const rows = new RowComparison(await readRowsOfRun(fixture.database.sql, address(claim.runId)));
    await fixture.store.append(claim, [end]);

    for await (const { facts } of allPages(fixture.database.sql, address(claim.runId)))
      rows.add(facts, { isTrimmed: false });

    expect(rows.listDifferences()).toEqual([]);
  });

  it('of a fork are those of what it shares and of its own', async () => {
    const id = await recordEndedRun();
    const { run } = await fixture.runs.fork({
      ...{ ...address(id), settings, input: textInput('And now?') },
      atSeq: (await fixture.runs.get(address(id))).last_seq,
    });
    const claim = await fixture.claim(run.id);
    await fixture.store.append(claim, [{ ...iterationStarted(2), iteration: 2 }, usage(), usage()]);

    expect(await verify(run.id)).toBeUndefined();
  });

  it.each([
    [
      'status',
      `update runs set status = 'failed' where id = $1`,
      'the run: status is "failed", and by the log "completed"',
    ],
    ['tokens', `update runs set output_tokens = 6 where id = $1`, 'the run: output_tokens is 6, and by the log 5'],
    ['cost', `update runs set cost_usd = null where id = $1`, 'the run: cost_usd is null, and by the log 0.5'],
    [
      'price',
      `update usage_entries set cost_usd = 0.4 where run_id = $1`,
      /^usage entry mdl_\w+: cost_usd is 0.4, and by the log 0.5$/,
    ],
    ['entry', `delete from usage_entries where run_id = $1`, /^usage entry mdl_\w+ is in the log and has no row$/],
    [
      'reply',
      `delete from messages where run_id = $1 and content::text like '%Found.%'`,
      /^message msg_\w+ is in the log and has no row$/,
    ],
    [
      'text',
      `update messages set content = '[]' where run_id = $1 and type = 'user'`,
      /^message msg_\w+: content_md5 is "\w+", and by the log "\w+"$/,
    ],
    [
      'outcome',
      `update tool_calls set status = 'unknown' where run_id = $1`,
      /^tool call call_\w+: status is "unknown", and by the log "completed"$/,
    ],
    [
      'result',
      `update tool_calls set result = null where run_id = $1`,
      /^tool call call_\w+: result_md5 is null, and by the log "\w+"$/,
    ],
    [
      'arguments',
      `update tool_calls set arguments = '{}' where run_id = $1`,
      /^tool call call_\w+: arguments_md5 is "\w+", and by the log "\w+"$/,
    ],
  ])('are told where another %s was written', async (_, statement, sentence) => {
    const id = await recordEndedRun();
    expect(await verify(id)).toBeUndefined();

    await change(statement, [id]);

    expect(await verify(id)).toEqual([expect.stringMatching(sentence)]);
  });

  it('are told where the log has nothing of them', async () => {
    const id = await recordEndedRun();
    await change(`update tool_calls set run_id = $2 where run_id = $1`, [await recordEndedRun(), id]);

    expect(await verify(id)).toEqual([expect.stringMatching(/^tool call call_\w+ has a row and is not in the log$/)]);
  });

  it('are compared with the last fact where retention has left only that', async () => {
    const id = await recordEndedRun();
    await change(`update runs set finished_at = finished_at - interval '40 days' where id = $1`, [id]);
    await change(`update run_events set at = at - interval '40 days' where run_id = $1`, [id]);
    await new Retention(fixture.database, 30).trim();
    expect(await verify(id)).toBeUndefined();

    await change(`update runs set input_tokens = 11 where id = $1`, [id]);

    expect(await verify(id)).toEqual(['the run: input_tokens is 11, and by the log 10']);
  });

  it('are not what the last fact sums up where that adds up wrongly', async () => {
    const claim = await recordRun();
    await fixture.store.append(claim, [
      { ...end, data: { finish_reason: 'stop', usage: { ...used, output_tokens: 9 } } },
    ]);

    expect(await verify(claim.runId)).toEqual(['the last fact: output_tokens is 9, and by the log 5']);
  });
});
