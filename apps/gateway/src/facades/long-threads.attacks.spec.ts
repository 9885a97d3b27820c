import type { AccountId } from '@rondo/contract';
import { LangGraphThreads } from './langgraph/langgraph-threads';
import { OpenAiConversations } from './openai/openai-conversations';
import { SunaRuns } from './suna/suna-runs';

const accountId = 'acc_1' as AccountId;
const thread = { id: 'thr_1', created_at: '2026-11-30T09:00:00.000Z', metadata: {}, newest_run: null };

/** A thread of messages of a million characters, of which each page has eight, and how many of them were read. */
function longThread(messages = 1_000, characters = 1_000_000) {
  const read = { messages: 0 };
  const toMessage = (index: number) => ({
    ...{ id: `msg_${index}`, type: 'user', is_llm_message: true, metadata: {}, run_id: null },
    ...{ content: [{ type: 'text', text: 'x'.repeat(characters) }], created_at: thread.created_at },
  });
  const list = ({ after = '0' }: { after?: string }) => {
    const first = Number(after);
    const data = Array.from({ length: Math.min(8, messages - first) }, (_, index) => toMessage(first + index));
    read.messages += data.length;
    const next = first + data.length;
    return Promise.resolve({ data, next_cursor: next < messages ? String(next) : null });
  };
  const dependencies = {
    messages: { list },
    threads: {
      get: () => Promise.resolve(thread),
      list: () => Promise.resolve({ data: Array(100).fill(thread), next_cursor: null }),
    },
    runs: { list: () => Promise.resolve({ data: [], next_cursor: null }) },
    ids: {
      findThread: () => Promise.resolve(thread.id),
      listThreadNames: () => Promise.resolve(new Map()),
      listMessageNames: () => Promise.resolve(new Map()),
    },
  };
  return { read, dependencies: dependencies as never };
}

const named = { accountId, threadName: 'thr_1' };
const tooLong = { code: 'log_too_long' };

describe('attack: public API', () => {
  it('the state of a thread that is too long for one answer, over LangGraph', async () => {
    const { read, dependencies } = longThread();

    await expect(new LangGraphThreads(dependencies).getState(named)).rejects.toMatchObject(tooLong);
    expect(await new LangGraphThreads(dependencies).get(named)).toMatchObject({ thread_id: 'thr_1', values: null });
    expect(read.messages).toBeLessThanOrEqual(48);
  });

  it('a search for threads that are too long together, over LangGraph', async () => {
    const { read, dependencies } = longThread(10);

    const found = await new LangGraphThreads(dependencies).search(accountId, { limit: 100, offset: 0 });
    expect([found.length, found.filter(({ values }) => values !== null).length]).toEqual([100, 1]);
    expect(found[0]?.values?.messages).toHaveLength(10);
    expect(read.messages).toBeLessThanOrEqual(20);
  });

  it('the states of a thread, each with all messages before it, over LangGraph', async () => {
    const threads = new LangGraphThreads(longThread(400, 2_000).dependencies);

    await expect(threads.listStates(named, { limit: 100 })).rejects.toMatchObject(tooLong);
    expect(await threads.listStates(named, { limit: 10 })).toHaveLength(10);
  });

  it('the items of a conversation that is too long for one answer, over OpenAI', async () => {
    const { read, dependencies } = longThread();
    const address = { accountId, conversationId: 'conv_1' };

    const listed = new OpenAiConversations(dependencies).list(address, { limit: 20, order: 'asc' });
    await expect(listed).rejects.toMatchObject(tooLong);
    expect(read.messages).toBeLessThanOrEqual(24);
  });

  it('the newest messages of a thread, of a million characters each, over Suna', async () => {
    const { read, dependencies } = longThread();

    const rows = await new SunaRuns(dependencies).listMessages({ accountId, threadId: thread.id as never });
    expect([rows.length, read.messages]).toEqual([24, 24]);
  });
});
