import type { AccountId } from '@rondo/contract';
import { LangGraphThreads } from './langgraph-threads';

const accountId = 'acc_1' as AccountId;

/** An account with so many threads, of which every second one is of a team, and how many pages of them were read. */
function createThreads(count: number) {
  const read = { pages: 0 };
  const toThread = (index: number) => ({
    ...{ id: `thr_${index}`, created_at: '2026-11-30T09:00:00.000Z', newest_run: null },
    metadata: { team: index % 2 === 0 ? 'a' : 'b' },
  });
  const none = () => Promise.resolve({ data: [], next_cursor: null });
  const dependencies = {
    messages: { list: none },
    runs: { list: none },
    threads: {
      list: ({ after = '0', limit }: { after?: string; limit: number }) => {
        read.pages += 1;
        const first = Number(after);
        const data = Array.from({ length: Math.min(limit, count - first) }, (_, index) => toThread(first + index));
        const next = first + data.length;
        return Promise.resolve({ data, next_cursor: next < count ? String(next) : null });
      },
    },
    ids: { listThreadNames: () => Promise.resolve(new Map()), listMessageNames: () => Promise.resolve(new Map()) },
  };
  return { read, threads: new LangGraphThreads(dependencies as never) };
}

describe('threads over LangGraph', () => {
  it('are found from an offset on, and no further page is read than those have', async () => {
    const { read, threads } = createThreads(2_000);

    const found = await threads.search(accountId, { metadata: { team: 'a' }, offset: 99, limit: 3 });
    expect(found.map(({ thread_id: id }) => id)).toEqual(['thr_198', 'thr_200', 'thr_202']);
    expect(read.pages).toBe(2);
    expect(await threads.search(accountId, { offset: 1_999, limit: 3 })).toHaveLength(1);
    expect(await threads.search(accountId, { offset: 2_000, limit: 3 })).toEqual([]);
  });

  it('are counted', async () => {
    const { threads } = createThreads(2_000);
    expect(await threads.count(accountId, { metadata: { team: 'b' } })).toBe(1_000);
    expect(await threads.count(accountId, {})).toBe(2_000);
  });
});
