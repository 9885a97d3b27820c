import { type NewFact, recordedFact } from '@rondo/contract';
import type { Claim } from '@rondo/domain';
import fc from 'fast-check';
import {
  type Planned,
  StoreFixture,
  completed,
  iterationStarted,
  planned,
  reply,
  started,
  waits,
  usage,
  sent,
} from '../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const readEvents = async ({ runId }: Claim, after = 2) =>
  (await fixture.runs.events({ accountId: fixture.accountId, runId }, { after, limit: 1000 })).data;

const readRun = ({ runId }: Claim) => fixture.runs.get({ accountId: fixture.accountId, runId });

const hostile = [
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff',
  '\\u0000',
  '"\\',
  '{"a":1}',
  '\u2028',
  "'; drop table runs --",
  '💥',
];

const appendWaits = `
select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%written as (%'`;

describe('append', () => {
  it('reads back byte for byte what it gave out to be published', async () => {
    const claim = await fixture.claimed();
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...hostile));

    await fc.assert(
      fc.asyncProperty(text, fc.dictionary(text, fc.jsonValue()), async (said, input) => {
        const facts = [reply(claim, said), planned(claim, { name: said, input })];
        const recorded = await fixture.store.append(claim, facts);
        const read = await readEvents(claim, (recorded[0]?.seq ?? 0) - 1);

        expect(JSON.stringify(read)).toBe(JSON.stringify(recorded));
      }),
      { numRuns: 60 },
    );
  });

  it('writes facts that every reader can parse, with the envelope in the order of the contract', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1), reply(claim, 'Hello.'), completed]);

    const events = await readEvents(claim, 0);

    for (const event of events) expect(recordedFact.parse(event)).toEqual(event);
    expect(Object.keys(events[0] ?? {})).toEqual(
      ['id', 'v', 'seq', 'type', 'run_id', 'thread_id', 'iteration', 'epoch', 'at', 'data'], // prettier-ignore
    );
  });

  it('keeps text that a column cannot hold in the log, and a harmless form in the column', async () => {
    const claim = await fixture.claimed();

    await fixture.store.append(claim, [planned(claim, { name: 'bad\0name\ud800', input: { '\0': '\ud800' } })]);
    const [event] = await readEvents(claim);
    const [call] = (await fixture.runs.toolCalls({ accountId: fixture.accountId, runId: claim.runId }, { limit: 9 }))
      .data;

    expect(event).toMatchObject({ data: { tool_call: { name: 'bad\0name\ud800' } } });
    expect(call).toMatchObject({ name: 'bad\u{FFFD}name\u{FFFD}', arguments: { '\0': '\ud800' } });
  });

  it('carries a call through the ledger, in one batch or in many (I5)', async () => {
    const claim = await fixture.claimed();
    const [whole, apart] = [planned(claim, { name: 'ask' }), planned(claim, { name: 'execute_command', index: 1 })];

    await fixture.store.append(claim, [whole, sent(whole), createEnd(whole), apart]);
    await fixture.store.append(claim, [sent(apart)]);
    await fixture.store.append(claim, [unknown(apart)]);

    const { data: calls } = await fixture.runs.toolCalls(
      { accountId: fixture.accountId, runId: claim.runId },
      { limit: 9 },
    );
    expect(calls.map(({ name, status, attempt, result }) => ({ name, status, attempt, result }))).toEqual([
      { name: 'ask', status: 'completed', attempt: 1, result: { success: true, output: 'done' } },
      { name: 'execute_command', status: 'unknown', attempt: 1, result: null },
    ]);
    expect(calls.every((call) => call.started_at && call.finished_at)).toBe(true);
  });

  it('keeps in the ledger what was made of the arguments of a call', async () => {
    const claim = await fixture.claimed();
    const fact = planned(claim, { name: 'execute_command', input: { timeout: 20 } });
    const adjusted = [{ path: 'timeout', change: 'parsed' as const }];
    const whole = planned(claim, { name: 'ask', index: 1 });

    await fixture.store.append(claim, [{ ...fact, data: { tool_call: { ...fact.data.tool_call, adjusted } } }, whole]);
    const { data: calls } = await fixture.runs.toolCalls(
      { accountId: fixture.accountId, runId: claim.runId },
      { limit: 9 },
    );

    expect(calls.map((call) => call.adjusted)).toEqual([adjusted, undefined]);
  });

  it('keeps in the ledger which call of which program it is', async () => {
    const claim = await fixture.claimed();
    const program = planned(claim, { name: 'run_program' });
    const inner = planned(claim, { name: 'read_file', index: 1 });
    const place = { call_id: program.data.tool_call.id, position: 0, digest: 'abc' };

    await fixture.store.append(claim, [
      program,
      { ...inner, data: { tool_call: { ...inner.data.tool_call, program: place } } },
    ]);
    const { data: calls } = await fixture.runs.toolCalls(
      { accountId: fixture.accountId, runId: claim.runId },
      { limit: 9 },
    );

    expect(calls.map((call) => call.program)).toEqual([undefined, place]);
  });

  it('adds up usage, and an unknown price makes the sum unknown', async () => {
    const claim = await fixture.claimed();

    await fixture.store.append(claim, [used(0.25)]);
    await fixture.store.append(claim, [used(0.5)]);
    expect((await readRun(claim)).usage).toEqual({
      input_tokens: 20,
      cached_tokens: 4,
      output_tokens: 10,
      cost_usd: 0.75,
    });

    await fixture.store.append(claim, [used(null)]);
    expect((await readRun(claim)).usage.cost_usd).toBeNull();
    const entries = await fixture.database.prisma.usageEntry.findMany({ where: { runId: claim.runId } });
    expect(entries).toHaveLength(3);
    expect(entries[0]).toMatchObject({ iteration: 1, finishReason: 'stop', durationMs: 1.5, firstTokenMs: null });
  });

  it('brings a run forward that is queued while the end of the run ahead of it waits for the lock', async () => {
    const { sql, transaction } = fixture.database;
    const claim = await fixture.claimed();
    const { run: next } = await fixture.create({ threadId: claim.threadId, onActiveRun: 'queue' });
    await sql.query('update runs set finished_at = clock_timestamp() where id = $1', [next.id]); // no statement sees it as queued
    let ending: Promise<unknown> = Promise.resolve();

    await transaction(async (queueing) => {
      await queueing.query('select from runs where id = $1 for no key update', [claim.runId]);
      ending = fixture.store.append(claim, [completed]);
      while ((await sql.query(appendWaits)).length === 0);
      await queueing.query('update runs set finished_at = null where id = $1', [next.id]);
    });
    await ending;

    expect(fixture.promoted).toMatchObject([{ type: 'message.created', run_id: next.id }]);
  });

  it('moves the run with its facts: running, waiting without a lease, over', async () => {
    const claim = await fixture.claimed();

    await fixture.store.append(claim, [started, waits]);
    expect(await readRun(claim)).toMatchObject({ status: 'waiting_input', waiting: { question: { text: 'Which?' } } });
    expect(await fixture.store.claim(claim.runId, 'worker-2')).toBeUndefined();

    const other = await fixture.claimed();
    await fixture.store.append(other, [started, completed]);
    expect(await readRun(other)).toMatchObject({ status: 'completed', finish_reason: 'stop', waiting: null });
    expect((await readRun(other)).finished_at).not.toBeNull();
  });
});

const about = ({ data: { tool_call } }: Planned) => ({
  tool_call_id: tool_call.id,
  name: tool_call.name,
  message_id: tool_call.message_id,
});

const createEnd = (call: Planned): NewFact => ({
  type: 'tool.completed',
  iteration: 1,
  data: { ...about(call), result: { success: true, output: 'done' }, duration_ms: 1 },
});

const unknown = (call: Planned): NewFact => ({
  type: 'tool.unknown',
  iteration: 1,
  data: { ...about(call), reason: 'No trace.' },
});

const used = (cost_usd: number | null) => usage({ cost_usd, cached_tokens: 2, duration_ms: 1.5 });
