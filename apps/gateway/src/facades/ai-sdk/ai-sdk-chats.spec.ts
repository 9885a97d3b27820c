import type { AiSdkChatRequest } from '@rondo/contract/api';
import { FacadeThreads } from '../facade-threads';
import { AiSdkChats } from './ai-sdk-chats';

const ask = (id: string) => ({ id, role: 'user' as const, parts: [{ type: 'text', text: `Question ${id}.` }] });
const answer = (id: string) => ({ id, role: 'assistant' as const, parts: [{ type: 'text', text: 'So.' }] });
const toRun = (question: string | undefined, index: number) => ({
  ...{ id: `run_${index}`, thread_id: 'thr_1', status: 'completed', waiting: null },
  metadata: question === undefined ? {} : { ai_sdk_message: question },
});

/** Sends it to a thread whose runs were asked these, the newest last, and resolves to the run that this begins. */
async function send(asked: readonly (string | undefined)[], request: Partial<AiSdkChatRequest>): Promise<unknown> {
  const runs = asked.map(toRun);
  const begun: unknown[] = [];
  const threads = new FacadeThreads({
    ids: { findThread: () => Promise.resolve('thr_1') },
    runs: {
      current: () => Promise.resolve(runs.at(-1)),
      list: () => Promise.resolve({ data: runs.toReversed() }),
      question: () => Promise.resolve({ messageId: 'msg_asked' }),
    },
    messages: { forNextRun: () => Promise.resolve([{ id: 'msg_newest', type: 'user' }]) },
    idempotent: { once: async (_: unknown, work: () => Promise<unknown>) => ({ result: await work() }) },
    service: {
      create: (_: unknown, wanted: unknown) => {
        begun.push(wanted);
        return Promise.resolve({ run: { id: 'run_new' }, facts: [] });
      },
    },
  } as never);
  const chats = new AiSdkChats({ ids: {}, runs: {}, service: {}, threads } as never);
  const body = { id: 'chat', trigger: 'submit-message', messages: [], approvals: false, resets: false, ...request };
  await chats.send({ accountId: 'acc_1', keyId: 'key_1', scopes: [] } as never, body as unknown as AiSdkChatRequest);
  return begun[0];
}

describe('an answer that is to be regenerated', () => {
  const again = { trigger: 'regenerate-message', messageId: 'x' } as const;

  it('is that to the newest question', async () => {
    const input = [{ type: 'text', text: 'Question 2.' }];
    const ofRun = (id: string) => ({ edit_message_id: 'msg_asked', edit_run_id: id, input });
    const messages = [ask('1'), answer('a'), ask('2')];
    expect(await send(['1', '2'], { ...again, messages })).toMatchObject(ofRun('run_1'));
    expect(await send(['1', '2', '2'], { ...again, messages })).toMatchObject(ofRun('run_2'));
    const elsewhere = { edit_message_id: 'msg_newest', input }; // begun or answered there
    expect(await send(['1', undefined], { ...again, messages })).toMatchObject(elsewhere);
  });

  it('is none to an earlier question, which would take the place of the newest one', async () => {
    const refused = send(['1', '2'], { ...again, messages: [ask('1')] });
    await expect(refused).rejects.toMatchObject({ code: 'message_not_newest' });
  });
});
