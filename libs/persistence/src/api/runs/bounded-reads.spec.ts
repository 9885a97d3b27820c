import { type NewFact, type RecordedResult, messageId } from '@rondo/contract';
import type { Claim } from '@rondo/domain';
import { Retention } from '../../retention/retention';
import {
  StoreFixture,
  completed,
  iterationStarted,
  nextId,
  planned,
  settings,
  reply,
  started,
} from '../../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const mebibyte = 1024 * 1024;
/** What one answer may hold, and one row more. */
const most = 9 * mebibyte;
const measureSize = (answer: unknown): number => Buffer.byteLength(JSON.stringify(answer));

function called(claim: Claim, { index, output }: { index: number; output: string }): NewFact[] {
  const plan = planned(claim, { name: 'execute_command', index });
  const { id: tool_call_id, name } = plan.data.tool_call;
  const result: RecordedResult = { success: true, output };
  const message_id = messageId.parse(`msg_${nextId()}`);
  return [
    plan,
    { type: 'tool.started', iteration: 1, data: { tool_call_id, name, attempt: 1, store: null } },
    { type: 'tool.completed', iteration: 1, data: { tool_call_id, name, message_id, result, duration_ms: 1 } },
  ];
}

describe('attack: public API', () => {
  it('a list of runs with settings of a mebibyte each is cut into pages by bytes, and none is left out', async () => {
    const wordy = { ...settings, agent: { system_prompt: 'x'.repeat(mebibyte) } };
    const made: string[] = [];
    for (let count = 0; count < 12; count++) made.push((await fixture.create({ settings: wordy })).run.id);

    const pages: string[][] = [];
    for (let after: string | undefined, more = true; more;) {
      const page = await fixture.runs.list({ accountId: fixture.accountId, limit: 200, after });
      expect(measureSize(page)).toBeLessThan(most);
      pages.push(page.data.map(({ id }) => id));
      [after, more] = [page.next_cursor ?? undefined, page.has_more];
    }

    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toEqual(made.toReversed());
  });

  it('a list of queued runs whose inputs are a mebibyte each is cut into pages by bytes', async () => {
    const { threadId } = await fixture.claimed();
    const input = [{ type: 'text' as const, text: 'x'.repeat(mebibyte) }];
    for (let count = 0; count < 10; count++) await fixture.create({ threadId, input, onActiveRun: 'queue' });

    const page = await fixture.runs.list({ accountId: fixture.accountId, threadId, limit: 200 });

    expect(page.data.length).toBeLessThan(10);
    expect(page.has_more).toBe(true);
  });

  it('the result of a run whose tools printed 12 MiB leaves out the oldest outputs and says so', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    for (let index = 0; index < 12; index++) {
      await fixture.store.append(
        claim,
        called(claim, { index, output: String(index).repeat(mebibyte).slice(0, mebibyte) }),
      );
    }
    await fixture.store.append(claim, [completed]);

    const answer = await fixture.runs.result({ accountId: fixture.accountId, runId: claim.runId });

    expect(measureSize(answer)).toBeLessThan(most);
    expect(answer.metrics.tool_calls).toBe(12);
    expect(answer.result.tools_executed).toHaveLength(12);
    expect(answer.result.tools_executed.at(0)).toMatchObject({ success: true, result: '', omitted: true });
    expect(answer.result.tools_executed.at(-1)?.result).toHaveLength(mebibyte);
    expect(answer.result.tools_executed.at(-1)).not.toHaveProperty('omitted');
  });

  it('the result of a run that said 12 MiB has its last words', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    for (let count = 0; count < 12; count++) await fixture.store.append(claim, [reply(claim, 'x'.repeat(mebibyte))]);
    await fixture.store.append(claim, [reply(claim, 'Done.'), completed]);
    const read = jest.spyOn(fixture.database.sql, 'query');

    const answer = await fixture.runs.result({ accountId: fixture.accountId, runId: claim.runId });

    expect(answer.result.response).toBe('Done.');
    const rows = (await Promise.all(read.mock.results.map(({ value }) => value as Promise<unknown>))).flat();
    read.mockRestore();
    expect(measureSize(rows)).toBeLessThan(most);
  });

  it('the snapshot of a trimmed log whose messages are a mebibyte each is bounded by bytes', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started, iterationStarted(1)]);
    for (let count = 0; count < 12; count++)
      await fixture.store.append(claim, [reply(claim, `${count} ${'x'.repeat(mebibyte)}`)]);
    await fixture.store.append(claim, [completed]);
    await fixture.database.sql.query(`update runs set finished_at = finished_at - interval '40 days' where id = $1`, [
      claim.runId,
    ]);
    await new Retention(fixture.database, 30).trim();

    const page = await fixture.runs.events(
      { accountId: fixture.accountId, runId: claim.runId },
      { after: 0, limit: 10 },
    );

    expect(measureSize(page.snapshot)).toBeLessThan(most);
    expect(JSON.stringify(page.snapshot?.messages.at(-1)?.content)).toContain('11 x');
    const seqs = page.snapshot?.messages.map(({ seq }) => seq) ?? [];
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  });
});
