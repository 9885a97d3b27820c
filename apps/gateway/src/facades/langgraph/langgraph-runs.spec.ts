import { langGraphRunRequest } from '@rondo/contract/api';
import { LangGraphRuns } from './langgraph-runs';
import { readNames } from './langgraph.requests';

const waiting = {
  reason: 'caller_tools',
  tool_calls: [
    { tool_call_id: 'call_1', name: 'get_weather' },
    { tool_call_id: 'call_2', name: 'get_time' },
  ],
};

/** What a run that waits for these calls is given for the messages. */
async function answer(calls: readonly object[], ...messages: readonly object[]): Promise<unknown> {
  const run = { id: 'run_1', thread_id: 'thr_1', last_seq: 7, waiting: { ...waiting, tool_calls: calls } };
  const given: { answers: unknown }[] = [];
  const runs = new LangGraphRuns({
    threads: { find: () => Promise.resolve({ accountId: 'acc_1', threadId: 'thr_1' }) },
    runs: { list: () => Promise.resolve({ data: [run] }) },
    service: { answerCalls: (order: (typeof given)[number]) => Promise.resolve(given.push(order)) },
  } as never);
  const caller = { accountId: 'acc_1', keyId: 'key_1', scopes: [] } as never;
  await runs.begin(caller, 'weather', langGraphRunRequest.parse({ assistant_id: 'rondo', input: { messages } }));
  return given[0]?.answers;
}

const result = (tool_call_id: string, content: unknown, more: object = {}) => ({
  type: 'tool',
  tool_call_id,
  content,
  ...more,
});
const [weather, time] = waiting.tool_calls as [object, object];

describe('results of calls that a client of LangGraph sends as messages', () => {
  it('are given as they are', async () => {
    expect(
      await answer([weather, time], result('call_2', 'Noon.'), result('call_1', [{ type: 'text', text: 'Rain.' }])),
    ).toEqual([
      { callId: 'call_1', result: { output: 'Rain.' } },
      { callId: 'call_2', result: { output: 'Noon.' } },
    ]);
    expect(await answer([weather], result('call_1', 'No sensor.', { status: 'error' }))).toEqual([
      { callId: 'call_1', result: { error: 'No sensor.' } },
    ]);
  });

  it('are given to the calls that they name, beside those of earlier calls', async () => {
    expect(await answer([weather], result('call_0', 'Old.'), result('call_1', 'Rain.'))).toEqual([
      { callId: 'call_1', result: { output: 'Rain.' } },
    ]);
  });

  it('are refused where a call has none', async () => {
    await expect(answer([weather], result('call_0', 'Old.'))).rejects.toThrow(
      'input.messages: no tool message for call_1',
    );
    await expect(answer([weather, time], result('call_1', 'Rain.'))).rejects.toThrow('no tool message for call_2');
  });
});

describe('messages to a run that asks its user something', () => {
  const human = (id: string, content: string) => ({ type: 'human', id, content });

  /** What it is told, and after which fact the client is shown it. */
  async function send(...messages: readonly object[]) {
    const question = { tool_call_id: 'call_1', text: 'Which colour?', attachments: [] };
    const metadata = { langgraph_messages: JSON.stringify([['mine', 1]]) };
    const run = { id: 'run_1', thread_id: 'thr_1', last_seq: 7, metadata, waiting: { reason: 'ask', question } };
    const told: string[] = [];
    const runs = new LangGraphRuns({
      threads: {
        find: () => Promise.resolve({ accountId: 'acc_1', threadId: 'thr_1' }),
        getState: () => Promise.resolve({ values: { messages: [human('mine', 'Paint it.'), { id: 'a1' }] } }),
        name: () => Promise.resolve(),
      },
      runs: { list: () => Promise.resolve({ data: [run] }) },
      service: {
        answer: ({ content }: { content: { text: string }[] }) =>
          Promise.resolve(told.push(...content.map(({ text }) => text))),
      },
    } as never);
    const caller = { accountId: 'acc_1', keyId: 'key_1', scopes: [] } as never;
    const request = langGraphRunRequest.parse({ assistant_id: 'rondo', input: { messages } });
    const { segment } = await runs.begin(caller, 'painting', request);
    return { told, after: segment.after };
  }

  it('answer it', async () => {
    expect(await send(human('new', 'Blue.'))).toEqual({ told: ['Blue.'], after: 7 });
  });

  it('answer nothing where they are those that it began with, which a client sends again', async () => {
    expect(await send(human('mine', 'Paint it.'))).toEqual({ told: [], after: 0 });
  });

  it('answer it with what is new, where the whole state is sent', async () => {
    const state = [human('mine', 'Paint it.'), { type: 'ai', id: 'a1', content: '' }, human('new', 'Blue.')];
    expect(await send(...state)).toEqual({ told: ['Blue.'], after: 7 });
  });
});

describe('a run that a client of LangGraph begins', () => {
  it('is the same for the same request alone, so that another model can be asked', async () => {
    const keys: unknown[] = [];
    const runs = new LangGraphRuns({
      threads: { find: () => Promise.resolve({ accountId: 'acc_1', threadId: 'thr_1' }) },
      runs: { list: () => Promise.resolve({ data: [] }) },
      assistants: { choose: () => Promise.resolve({}) },
      idempotent: {
        once: ({ key }: { key: unknown }) => {
          keys.push(key);
          return Promise.resolve({ result: {} });
        },
      },
    } as never);
    const messages = [{ type: 'human', id: 'mine', content: 'Hello?' }];
    for (const model of ['demo/plain', 'demo/plain', 'demo/coder']) {
      const config = { configurable: { model } };
      const request = langGraphRunRequest.parse({ assistant_id: 'rondo', input: { messages }, config });
      await runs.begin({ accountId: 'acc_1', keyId: 'key_1', scopes: [] } as never, 'weather', request);
    }
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it('has all the metadata that a run may have, and knows the ids of many messages', async () => {
    const begun: { metadata: Readonly<Record<string, string>> }[] = [];
    const run = { id: 'run_1', thread_id: 'thr_1' };
    const runs = new LangGraphRuns({
      threads: { find: () => Promise.resolve({ accountId: 'acc_1', threadId: 'thr_1' }) },
      runs: { list: () => Promise.resolve({ data: [] }) },
      assistants: { choose: () => Promise.resolve({ model: 'demo/plain' }) },
      idempotent: { once: async (_: unknown, act: () => Promise<unknown>) => ({ result: await act() }) },
      service: {
        create: (_: unknown, request: (typeof begun)[number]) => {
          begun.push(request);
          return Promise.resolve({ run, facts: [] });
        },
      },
    } as never);
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`key ${index}`, 'x']));
    const ids = Array.from({ length: 20 }, (_, index) => `${index}`.padStart(36, '0'));
    const messages = ids.map((id) => ({ type: 'human', id, content: 'Hello?' }));
    const request = langGraphRunRequest.parse({ assistant_id: 'demo/plain', input: { messages }, metadata });

    await runs.begin({ accountId: 'acc_1', keyId: 'key_1', scopes: [] } as never, 'weather', request);

    expect(begun[0]?.metadata).toMatchObject(metadata);
    expect(readNames(begun[0]?.metadata ?? {})).toEqual(ids.map((id) => [id, 1]));
  });
});
