import { createHash } from 'node:crypto';
import { type AccountId, type NewFact, callId, messageId, runId } from '@rondo/contract';
import type { Page, PageRequest } from '../page';
import {
  StoreFixture,
  completed,
  iterationStarted,
  nextId,
  newAccount,
  planned,
  textInput,
  reply,
  started,
  sent,
} from '../../testing/store-fixture';

let fixture: StoreFixture;
let stranger: AccountId;
beforeAll(async () => {
  fixture = await StoreFixture.open();
  stranger = await newAccount(fixture.database);
});
afterAll(() => fixture.close());

describe('Runs', () => {
  it('shows another account none of a run', async () => {
    const { runs } = fixture;
    const { run } = await fixture.create();
    const address = { accountId: stranger, runId: run.id };

    const attempts = [
      runs.get(address),
      runs.events(address, { after: 0, limit: 10 }),
      runs.open(address, { after: 0, limit: 10 }),
      runs.verify(address),
      runs.requestStop({ ...address, reason: null }),
      runs.answer({ ...address, content: textInput('Hi.') }),
      runs.toolCalls(address, { limit: 1 }),
      runs.result(address),
    ];

    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes).toEqual(
      attempts.map(() => ({
        status: 'rejected',
        reason: expect.objectContaining({ code: 'run_not_found' }) as unknown,
      })),
    );
    expect((await runs.list({ accountId: stranger, limit: 10 })).data).toEqual([]);
    expect((await runs.list({ accountId: stranger, threadId: run.thread_id, limit: 10 })).data).toEqual([]);
  });

  it('lists newest first, a page at a time, by status and by thread', async () => {
    const { runs } = fixture;
    const accountId = await newAccount(fixture.database);
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.unshift((await fixture.create({ accountId })).run.id);

    const first = await runs.list({ accountId, limit: 2 });
    const second = await runs.list({ accountId, limit: 3, after: first.next_cursor ?? '' });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
    expect([first.has_more, second.has_more, second.next_cursor]).toEqual([true, false, null]);

    await runs.requestStop({ accountId, runId: runId.parse(ids[0]), reason: null });
    expect((await runs.list({ accountId, statuses: ['stopped'], limit: 9 })).data.map(({ id }) => id)).toEqual([
      ids[0],
    ]);
    const threadId = first.data[1]?.thread_id;
    expect((await runs.list({ accountId, threadId, limit: 9 })).data.map(({ id }) => id)).toEqual([ids[1]]);
  });

  it.each(['', 'x', 'msg_1', '../..', Buffer.from('thr_1').toString('base64url')])(
    'refuses the cursor %j',
    async (after) => {
      const { accountId, runs } = fixture;
      await expect(runs.list({ accountId, limit: 5, after })).rejects.toMatchObject({ code: 'invalid_cursor' });
    },
  );

  it('gives events after a seq together with the head of that moment', async () => {
    const claim = await fixture.claimed();
    const { accountId } = fixture;
    const address = { accountId, runId: claim.runId };
    await fixture.store.append(claim, [started, iterationStarted(1), reply(claim, 'Hello.')]);

    const page = await fixture.runs.events(address, { after: 2, limit: 2 });
    expect([page.data.map(({ seq }) => seq), page.head_seq]).toEqual([[3, 4], 5]);
    expect(await fixture.runs.events(address, { after: 5, limit: 2 })).toEqual({ data: [], head_seq: 5 });
  });

  it('ends a page where it has grown long, and reads and proves the whole log all the same', async () => {
    const claim = await fixture.claimed();
    const address = { accountId: fixture.accountId, runId: claim.runId };
    const long = Array.from({ length: 4 }, (_, index) => reply(claim, `${index}`.repeat(3 * 1024 * 1024)));
    await fixture.store.append(claim, [started, ...long, reply(claim, 'short'), completed]);

    const pages: number[][] = [];
    let [read, head] = [0, 1];
    while (read < head) {
      const page = await fixture.runs.events(address, { after: read, limit: 1_000 });
      const opened = await fixture.runs.open(address, { after: read, limit: 1_000 });
      expect(opened.page).toEqual(page);
      pages.push(page.data.map(({ seq }) => seq));
      [read, head] = [page.data.at(-1)?.seq ?? NaN, page.head_seq];
    }

    expect(pages).toEqual([
      [1, 2, 3, 4, 5, 6],
      [7, 8, 9],
    ]);
    expect(await fixture.runs.verify(address)).toMatchObject({ first: 1, last: 9, count: 9, contiguous: true });
  });

  it('proves a log by a hash that a client can compute from the events it read', async () => {
    const claim = await fixture.claimed();
    const address = { accountId: fixture.accountId, runId: claim.runId };
    await fixture.store.append(claim, [started, reply(claim, 'Hé\0llo.'), completed]);

    const { data } = await fixture.runs.events(address, { after: 0, limit: 100 });
    const hash = data.reduce(
      (h, event) =>
        createHash('sha256')
          .update(h + JSON.stringify(event))
          .digest('hex'),
      '',
    );

    expect(await fixture.runs.verify(address)).toEqual({
      ...{ first: 1, last: 5, count: 5, head_seq: 5, contiguous: true },
      hash,
    });
  });

  it('notices a gap in a log that was tampered with', async () => {
    const claim = await fixture.claimed();
    const address = { accountId: fixture.accountId, runId: claim.runId };
    await fixture.store.append(claim, [started, completed]);
    const before = await fixture.runs.verify(address);
    await fixture.database.prisma.runEvent.delete({ where: { runId_seq: { runId: claim.runId, seq: 3 } } });

    const after = await fixture.runs.verify(address);

    expect(after).toMatchObject({ count: 3, last: 4, contiguous: false });
    expect(after.hash).not.toBe(before.hash);
  });

  it('lists tool calls in the order in which they were made, a page at a time', async () => {
    const { accountId, runs } = fixture;
    const claim = await fixture.claimed();
    const address = { accountId, runId: claim.runId };
    const calls = [0, 1, 2].map((index) => planned(claim, { name: 'execute_command', index }));
    await fixture.store.append(claim, [started, iterationStarted(1), ...calls]);
    const ids = calls.map(({ data }) => data.tool_call.id);

    const first = await runs.toolCalls(address, { limit: 2 });
    const second = await runs.toolCalls(address, { limit: 2, after: first.next_cursor ?? '' });

    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
    expect([first.has_more, second.has_more, second.next_cursor]).toEqual([true, false, null]);
    const foreign = { ...address, runId: (await fixture.create()).run.id };
    for (const [of, after] of [[address, 'x'] as const, [foreign, first.next_cursor ?? ''] as const]) {
      await expect(runs.toolCalls(of, { limit: 2, after })).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
  });

  it('ends a page of tool calls or messages where it has grown long', async () => {
    const { accountId, runs, messages } = fixture;
    const claim = await fixture.claimed();
    const text = 'x'.repeat(3 * 1024 * 1024);
    const calls = [0, 1, 2, 3].map((index) => planned(claim, { name: 'execute_command', index, input: { text } }));
    const words = calls.map(() => reply(claim, text));
    await fixture.store.append(claim, [started, iterationStarted(1), ...words, ...calls, completed]);

    const callPages = await readPages((page) => runs.toolCalls({ accountId, runId: claim.runId }, page));
    const messagePages = await readPages((page) => messages.list({ accountId, threadId: claim.threadId, ...page }));

    expect(callPages.map((page) => page.map(({ index }) => index))).toEqual([[0, 1, 2], [3]]);
    expect(messagePages.map((page) => page.map(({ seq }) => seq))).toEqual([[1, 2, 3, 4], [5]]); // the first is the input
  });

  it('knows no run of a deleted thread, whatever one asks of it', async () => {
    const { accountId, runs } = fixture;
    const { run } = await fixture.create();
    const address = { accountId, runId: run.id };
    await runs.requestStop({ ...address, reason: null });
    await fixture.threads.delete({ accountId, threadId: run.thread_id });

    for (const ask of [
      () => runs.get(address),
      () => runs.requestStop({ ...address, reason: null }),
      () => runs.answer({ ...address, content: textInput('Hi.') }),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: 'run_not_found' });
    }
  });

  it('sums a run up when it is over, and not before', async () => {
    const claim = await fixture.claimed();
    const address = { accountId: fixture.accountId, runId: claim.runId };
    await expect(fixture.runs.result(address)).rejects.toMatchObject({ code: 'run_not_finished' });

    const call = planned(claim, { name: 'execute_command' });
    await fixture.store.append(claim, [started, iterationStarted(1), reply(claim, 'Let me see.'), call]);
    await fixture.store.append(claim, [sent(call), failed(call), reply(claim, 'It failed.'), completed]);

    expect(await fixture.runs.result(address)).toMatchObject({
      success: true,
      result: {
        response: 'It failed.',
        tools_executed: [{ name: 'execute_command', success: false, error: 'no such file' }],
        model: 'demo/coder',
      },
      error: null,
      metrics: { iterations: 1, tool_calls: 1 },
    });
  });

  it.each(['complete', 'message_user'])('sums a run up in the words that it said with %s', async (name) => {
    const claim = await fixture.claimed();
    const call = planned(claim, { name, input: { text: 'All done.' } });
    const answered = { ...failed(call), type: 'tool.completed' } as NewFact; // both have the same data
    await fixture.store.append(claim, [started, iterationStarted(1), reply(claim, 'Let me see.'), call]);
    await fixture.store.append(claim, [sent(call), answered, completed]);

    const { result } = await fixture.runs.result({ accountId: fixture.accountId, runId: claim.runId });

    expect(result.response).toBe('All done.');
  });
});

const failed = ({ data: { tool_call } }: ReturnType<typeof planned>): NewFact => ({
  type: 'tool.failed',
  iteration: 1,
  data: {
    tool_call_id: callId.parse(tool_call.id),
    name: tool_call.name,
    result: { success: false, output: '', error: 'no such file' },
    duration_ms: 1,
    message_id: messageId.parse(`msg_${nextId()}`),
  },
});

/** As a reader asks for them, until there are no more. */
async function readPages<T>(read: (page: PageRequest) => Promise<Page<T>>): Promise<(readonly T[])[]> {
  const pages: (readonly T[])[] = [];
  let after: string | undefined;
  do {
    const page = await read({ limit: 200, after });
    pages.push(page.data);
    expect(page.has_more).toBe(page.next_cursor !== null);
    after = page.next_cursor ?? undefined;
  } while (after !== undefined);
  return pages;
}
