import { type MessageId, type NewFact, type RunId, type ThreadId, messageId } from '@rondo/contract';
import { StoreFixture, completed, nextId, started, textInput, stopped } from '../../testing/store-fixture';
import { NotNewestQuestionError } from './supersede-turn';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const says = (
  threadId: ThreadId,
  runId: RunId,
  text: string,
  type: 'assistant' | 'summary' = 'assistant',
): NewFact => ({
  type: 'message.created',
  iteration: 1,
  data: {
    message: {
      id: messageId.parse(`msg_${nextId()}`),
      thread_id: threadId,
      run_id: runId,
      iteration: 1,
      type,
      is_llm_message: true,
      content: textInput(text) as { type: 'text'; text: string }[],
      metadata: type === 'summary' ? {} : { model: 'demo/coder' },
    },
  },
});

/** A run that a worker holds and that has replied. */
async function asked(text: string, threadId?: ThreadId) {
  const { run } = await fixture.create({ threadId, input: textInput(text) });
  const claim = await fixture.claim(run.id);
  await fixture.store.append(claim, [started, says(run.thread_id, run.id, `Reply to: ${text}`)]);
  return claim;
}

async function answered(text: string, threadId?: ThreadId) {
  const claim = await asked(text, threadId);
  await fixture.store.append(claim, [completed]);
  return claim;
}

const readMessages = async (threadId: ThreadId) =>
  (await fixture.messages.list({ accountId: fixture.accountId, threadId, limit: 100 })).data.map(
    ({ id, content, is_llm_message: isRead, metadata }) => ({
      id,
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      isRead,
      by: metadata['superseded_by'],
    }),
  );

const readQuestion = async (threadId: ThreadId): Promise<MessageId> =>
  (await readMessages(threadId)).findLast(({ text, isRead }) => isRead && !text.startsWith('Reply'))?.id ??
  messageId.parse('msg_none');

const edit = async (threadId: ThreadId, text: string, edits?: MessageId) =>
  fixture.create({
    threadId,
    onActiveRun: 'replace',
    edits: edits ?? (await readQuestion(threadId)),
    input: textInput(text),
  });

const textsRead = async (id: RunId) => {
  const { earlier } = await fixture.claim(id);
  return earlier.map(({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join(''));
};

describe('editing the last question of a thread', () => {
  it('withdraws its turn from what models read, and keeps it in the thread', async () => {
    const { threadId } = await answered('First?');
    await answered('In English?', threadId);

    const { run, facts } = await edit(threadId, 'In French?');

    expect(await textsRead(run.id)).toEqual(['First?', 'Reply to: First?']);
    const kept = await readMessages(threadId);
    expect(kept.map(({ text, isRead }) => [text, isRead])).toEqual([
      ['First?', true],
      ['Reply to: First?', true],
      ['In English?', false],
      ['Reply to: In English?', false],
      ['In French?', true],
    ]);
    expect(kept.map(({ by }) => by)).toEqual([undefined, undefined, run.id, run.id, undefined]);
    expect(facts[0]).toMatchObject({ type: 'run.created', data: { edits_message_id: kept[2]?.id } });
  });

  it('stops the run that works on it, and withdraws what that run says until it has stopped (I9)', async () => {
    const { threadId } = await answered('First?');
    const active = await asked('In English?', threadId);

    const { run, stops, job } = await edit(threadId, 'In French?');
    expect(stops.map(({ runId }) => runId)).toEqual([active.runId]);
    expect(job).toBeUndefined();
    await fixture.store.append(active, [says(threadId, active.runId, 'Reply, cut o'), stopped('replaced')]);

    expect(await textsRead(run.id)).toEqual(['First?', 'Reply to: First?']);
    const kept = await readMessages(threadId);
    expect(kept.filter(({ by }) => by === run.id).map(({ text }) => text)).toEqual([
      'In English?',
      'Reply to: In English?',
      'Reply, cut o',
    ]);
    expect(kept.at(-1)).toMatchObject({ text: 'In French?', isRead: true });
  });

  it('asks once, however often the edit is sent while the edited run stops', async () => {
    const active = await asked('In English?');
    const { threadId } = active;
    const question = await readQuestion(threadId);
    const sent = await Promise.all(['French', 'Greek', 'Latin'].map((name) => edit(threadId, `In ${name}?`, question)));
    await fixture.store.append(active, [stopped('replaced')]);
    const claims = await Promise.all(sent.map(({ run }) => fixture.store.claim(run.id, 'worker-2')));

    expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
    expect((await readMessages(threadId)).filter(({ isRead }) => isRead)).toHaveLength(1);
  });

  it('keeps what a person adds while the edited run stops', async () => {
    const active = await asked('In English?');
    const { threadId } = active;
    const { run } = await edit(threadId, 'In French?');
    await fixture.messages.add({ accountId: fixture.accountId, threadId, content: textInput('And briefly.') });
    await fixture.store.append(active, [stopped('replaced')]);

    expect(await textsRead(run.id)).toEqual(['And briefly.']);
  });

  it('can edit an edit', async () => {
    const { threadId } = await answered('In English?');
    const { run: first } = await edit(threadId, 'In French?');
    await fixture.store.append(await fixture.claim(first.id), [started, completed]);

    const { run } = await edit(threadId, 'In Greek?');

    expect(await textsRead(run.id)).toEqual([]);
    expect((await readMessages(threadId)).map(({ text, by }) => [text, by])).toEqual([
      ['In English?', first.id],
      ['Reply to: In English?', first.id],
      ['In French?', run.id],
      ['In Greek?', undefined],
    ]);
  });

  it('refuses any other message, and changes nothing', async () => {
    const { threadId } = await answered('First?');
    const first = await readQuestion(threadId);
    await answered('Second?', threadId);
    const before = await readMessages(threadId);
    const reply = before[1]?.id;

    for (const id of [first, reply, messageId.parse('msg_unknown')])
      await expect(edit(threadId, 'Other?', id)).rejects.toThrow(NotNewestQuestionError);
    expect(await readMessages(threadId)).toEqual(before);
  });
});
