import { Readable } from 'node:stream';
import {
  type CallId,
  type NewFact,
  type RecordedFact,
  type Run,
  type RunId,
  type ThreadId,
  inlineImage,
  messageId,
  noUsage,
  sha256,
} from '@rondo/contract';
import { pngSource } from '@rondo/contract/testing';
import { type ClaimedRun, forkPoint, noteOfFork, replay } from '@rondo/domain';
import {
  StoreFixture,
  iterationStarted,
  newAccount,
  nextId,
  planned,
  reply,
  settings,
  started,
  textInput,
  usage,
} from '../../../testing/store-fixture';
import { purgeThreads } from '../../../retention/purge-thread';
import { readRunMinutes } from '../../billing/run-minutes';
import { FetchedImages } from '../../blobs/fetched-images';
import { Files } from '../../files/files';
import { FileDeliveries } from '../../files/run-files';
import type { ForkOrder } from './fork-run';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const fork = (runId: RunId, order: Partial<ForkOrder> & Pick<ForkOrder, 'atSeq'>) =>
  fixture.runs.fork({ accountId: fixture.accountId, runId, settings, ...order });
const readFacts = async (runId: RunId): Promise<readonly RecordedFact[]> =>
  (await fixture.runs.events({ accountId: fixture.accountId, runId }, { after: 0, limit: 200 })).data;

const toAnswer = ({ threadId, runId }: ClaimedRun, call: { id: CallId; name: string }): NewFact[] => {
  const id = messageId.parse(`msg_${nextId()}`);
  const result = { success: true, output: `what ${call.id} found: \0 and \ud800` };
  const content = [{ type: 'tool_result' as const, tool_call_id: call.id, name: call.name, result }];
  const place = { id, thread_id: threadId, run_id: runId, iteration: 1 };
  return [
    { type: 'tool.started', iteration: 1, data: { tool_call_id: call.id, name: call.name, attempt: 1, store: null } },
    {
      type: 'tool.completed',
      iteration: 1,
      data: { tool_call_id: call.id, name: call.name, result, duration_ms: 1, message_id: id },
    },
    {
      type: 'message.created',
      iteration: 1,
      data: { message: { ...place, type: 'tool', is_llm_message: true, content, metadata: {} } },
    },
  ];
};

/** A run on a thread with an earlier one, which made one call and then ended. */
async function recordedRun(): Promise<ClaimedRun> {
  const before = await fixture.claimed();
  await fixture.store.append(before, [iterationStarted(1), reply(before, 'Earlier.'), ended(1)]);
  const { run } = await fixture.create({ threadId: before.threadId, input: textInput('call_me when msg_x is done.') });
  const claim = await fixture.claim(run.id);
  const call = planned(claim, { name: 'read_file', input: { file_path: 'a.txt' } });
  const { id, name } = call.data.tool_call;
  await fixture.store.append(claim, [{ type: 'run.started', iteration: 0, data: { tool_set: 'f00d' } }]);
  await fixture.store.append(claim, [
    iterationStarted(1),
    reply(claim, `I read it with ${id}.`),
    usage({ finish_reason: 'tool_calls', input_tokens: 100, output_tokens: 10, cost_usd: 0.25 }),
    call,
  ]);
  await fixture.store.append(claim, toAnswer(claim, { id, name }));
  await fixture.store.append(claim, [completedIteration(1, 'tool_calls')]);
  await fixture.store.append(claim, [
    iterationStarted(2),
    { ...reply(claim, 'Found it.'), iteration: 2 },
    completedIteration(2, 'stop'),
  ]);
  await fixture.store.append(claim, [ended(2)]);
  return claim;
}

const completedIteration = (iteration: number, finish_reason: 'stop' | 'tool_calls'): NewFact => ({
  type: 'iteration.completed',
  iteration,
  data: { iteration, finish_reason },
});
const ended = (iteration: number): NewFact => ({
  type: 'run.completed',
  iteration,
  data: { finish_reason: 'stop', usage: noUsage },
});

async function deleteRun({ id: runId, thread_id: threadId }: Run): Promise<void> {
  const { accountId } = fixture;
  await fixture.runs.requestStop({ accountId, runId, reason: null });
  await fixture.threads.delete({ accountId, threadId });
  while (await fixture.database.transaction(purgeThreads));
}

/** Without what differs between a run and its copy. */
const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replace(/\b(run|thr|msg|call|mdl|evt)_(?:[0-9A-Z]{8,}|1)\b/g, '$1'));

describe('a fork', () => {
  it('at every seq begins with the same facts under new ids, and its log is proven with its origin (I2)', async () => {
    const origin = await recordedRun();
    const log = await readFacts(origin.runId);
    for (const { seq } of log) {
      const { seq: last, needsInput } = forkPoint(log, seq);
      const input = needsInput ? textInput('Go on.') : undefined;
      const { run } = await fork(origin.runId, { atSeq: seq, input });
      const facts = await readFacts(run.id);

      expect(withoutIds(facts.slice(0, last))).toEqual(withoutIds(log.slice(0, last)));
      expect(facts.map((fact) => fact.seq)).toEqual(facts.map((_, index) => index + 1));
      expect(facts[last]).toMatchObject({
        type: 'run.forked',
        data: { run_id: origin.runId, seq: last, requested_seq: seq },
      });
      const verified = await fixture.runs.verify({ accountId: fixture.accountId, runId: run.id });
      expect(verified).toMatchObject({
        contiguous: true,
        count: facts.length,
        forked_from: { seq: last, holds: true },
      });
      expect(run).toMatchObject({
        status: 'queued',
        forked_from: { run_id: origin.runId, seq: last },
        last_seq: facts.length,
      });
    }
  });

  it('continues from the conversation of its origin, earlier runs included, with the answers of the ledger (I5)', async () => {
    const origin = await recordedRun();
    const log = await readFacts(origin.runId);
    const at = log.find(({ type }) => type === 'iteration.completed')?.seq ?? 0;
    const { run } = await fork(origin.runId, { atSeq: at });
    const claim = await fixture.claim(run.id);
    const state = replay(claim.log, claim.earlier);

    const texts = state.conversation.map(({ type, content }) => [type, JSON.stringify(content)]);
    expect(texts.map(([type]) => type)).toEqual(['user', 'assistant', 'user', 'assistant', 'tool', 'user']);
    expect(texts[2]?.[1]).toContain('call_me when msg_x is done.');
    expect(state).toMatchObject({ phase: 'between', iteration: 1, started: true });
    const { data } = await fixture.runs.toolCalls({ accountId: fixture.accountId, runId: run.id }, { limit: 10 });
    expect(data).toMatchObject([{ status: 'completed', attempt: 1, run_id: run.id }]);
    const [call] = data;
    expect(texts[3]?.[1]).toContain(`I read it with ${call?.id}.`);
    expect(call?.result?.output).toBe(`what ${call?.id} found: \0 and \ud800`);
    expect(texts[5]?.[1]).toContain('The workspace is a new one');
    expect(claim.run).toMatchObject({ epoch: 2, usage: { input_tokens: 100, output_tokens: 10, cost_usd: 0.25 } });
    expect(claim.toolSet).toBe('f00d');
    await fixture.store.append(claim, [iterationStarted(2), reply(claim, 'Otherwise.')]);
  });

  it('has another model and input, as it is told', async () => {
    const origin = await recordedRun();
    const last = origin.run.last_seq;
    const { run, facts } = await fork(origin.runId, {
      atSeq: last,
      input: textInput('Once more.'),
      settings: { ...settings, model: 'demo/plain' },
    });

    expect(run).toMatchObject({ model: 'demo/plain', settings: { model: 'demo/plain' } });
    expect(facts.map(({ type }) => type)).toEqual(['run.forked', 'message.created']);
    expect(facts[0]).toMatchObject({ data: { model: 'demo/plain', workspace: 'empty' } });
    expect((await fixture.published()).filter(({ payload }) => payload.run_id === run.id)).toHaveLength(1);
  });

  it('takes the time since it was made, not that since the start of its origin', async () => {
    const accountId = await newAccount(fixture.database);
    const origin = await fixture.claim((await fixture.create({ accountId })).run.id);
    const facts = [started, iterationStarted(1), reply(origin, 'Half.'), completedIteration(1, 'stop')];
    const atSeq = (await fixture.store.append(origin, facts)).at(-1)?.seq ?? 0;
    const daysAgo = `update runs set started_at = now() - interval '3 days', finished_at = now() - interval '3 days' where id = $1`;
    await fixture.database.sql.query(daysAgo, [origin.runId]);

    const { run } = await fork(origin.runId, { accountId, atSeq, input: textInput('The other half.') });
    await fixture.database.sql.query(`update runs set started_at = now() - interval '3 days' where id = $1`, [run.id]);
    await fixture.store.append(await fixture.claim(run.id), [iterationStarted(2), ended(2)]);

    expect(await readRunMinutes(fixture.database, accountId)).toBe(0);
    const { metrics } = await fixture.runs.result({ accountId, runId: run.id });
    expect(metrics.duration_ms).toBeLessThan(60_000);
    await fixture.threads.delete({ accountId, threadId: run.thread_id });
    while (await fixture.database.transaction(purgeThreads));
    expect(await readRunMinutes(fixture.database, accountId)).toBe(0);
  });

  it('shows the images of URLs that its origin has shown, and does not fetch them again', async () => {
    const { accountId, database } = fixture;
    const url = (name: string) => ({
      type: 'image' as const,
      source: { type: 'url' as const, url: `https://example.com/${name}` },
    });
    const { run, facts } = await fixture.create({ input: [url('a.png'), url('b.png')] });
    const said = (all: readonly RecordedFact[]) =>
      all.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message.id] : []));
    const [message] = said(facts);
    if (message === undefined) throw new Error('nothing is said');
    const images = new FetchedImages(database);
    const image = inlineImage.parse({ media_type: 'image/png', data: pngSource().data });
    const kept = await images.keep({ messageId: message, block: 0 }, { accountId, threadId: run.thread_id }, image);
    const refused = await images.refuse({ messageId: message, block: 1 }, 'its server answered with status 404');

    const { run: made } = await fork(run.id, { atSeq: run.last_seq });

    const copies = said(await readFacts(made.id));
    expect((await images.of(copies)).toSorted((a, b) => a.block - b.block)).toEqual([
      { messageId: copies[0], block: 0, fetched: kept },
      { messageId: copies[0], block: 1, fetched: refused },
    ]);
  });

  it('keeps the images that it shows when its origin is deleted, and no others', async () => {
    const { accountId, blobs } = fixture;
    const image = (more: number) => [
      { type: 'image' as const, source: { ...pngSource({}, [more]), width: 2, height: 3 } },
    ];
    const { run } = await fixture.create({ input: image(7) });
    const threadId = run.thread_id;
    await fixture.messages.add({ accountId, threadId, content: image(8) });
    const { data } = await fixture.messages.list({ accountId, threadId, limit: 10 });
    const hashes = data.flatMap(({ content }) =>
      content.map((block) =>
        sha256.parse(block.type === 'image' && block.source.type === 'blob' && block.source.sha256),
      ),
    );
    await fork(run.id, { atSeq: run.last_seq });

    await deleteRun(run);

    const left = await Promise.allSettled(hashes.map((hash) => blobs.get({ accountId, sha256: hash })));
    expect(left.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  it('keeps the uploads that its messages name, also where it gets the files of then', async () => {
    const { accountId, database } = fixture;
    const files = new Files(database, nextId);
    const limits = { fileBytes: 1_000, accountBytes: 10_000 };
    const upload = () =>
      files.store({
        ...{ accountId, name: 'a.txt', limits },
        source: Readable.from([Buffer.from('a')]),
        toMediaType: () => 'text/plain',
      });
    const file = await upload();
    const { run } = await fixture.create({ files: [file.id] });
    const rewind = { thread_id: run.thread_id, run_id: run.id, moment: run.id, executorId: 'executor-1' };

    const { run: made } = await fork(run.id, { atSeq: run.last_seq, rewind });

    expect(await new FileDeliveries(database).of(made.id)).toEqual([]);
    const later = await upload();
    await fixture.create({ threadId: made.thread_id, onActiveRun: 'queue', files: [later.id] });
    const places = await files.places({ accountId, threadId: made.thread_id }, [file.id, later.id]);
    expect(places).toEqual(new Map([[file.id, 'a.txt'], [later.id, 'a-2.txt']])); // prettier-ignore
    await deleteRun(run);
    expect(await files.get({ accountId, fileId: file.id })).toMatchObject({ name: 'a.txt' });
  });

  it('of a run that was asked anew since has what was read then, and not what was withdrawn before', async () => {
    const { accountId } = fixture;
    const read = async (threadId: ThreadId) =>
      (await fixture.messages.list({ accountId, threadId, limit: 50 })).data.map(
        ({ content, is_llm_message, metadata }) => [
          ...[content[0]?.type === 'text' ? content[0].text : '', is_llm_message, 'superseded_by' in metadata],
        ],
      );
    const askAnew = async (threadId: ThreadId, text: string) => {
      const { data } = await fixture.messages.list({ accountId, threadId, limit: 50 });
      const edits = data.findLast(({ type, is_llm_message }) => type === 'user' && is_llm_message)?.id;
      const { run } = await fixture.create({ threadId, edits, onActiveRun: 'replace', input: textInput(text) });
      const claim = await fixture.claim(run.id);
      await fixture.store.append(claim, [started, reply(claim, `Reply to: ${text}`)]);
      await fixture.store.append(claim, [ended(1)]);
      return run.id;
    };
    const { threadId } = await recordedRun();
    const second = await askAnew(threadId, 'In English?');
    await askAnew(threadId, 'In French?');

    const { run } = await fork(second, { atSeq: (await readFacts(second)).length, input: textInput('Go on.') });

    const texts = await read(run.thread_id);
    expect(texts.slice(-3)).toEqual([
      ['In English?', true, false],
      ['Reply to: In English?', true, false],
      ['Go on.', true, false],
    ]);
    expect(texts.find(([text]) => text === 'Found it.')).toEqual(['Found it.', false, true]);
  });

  it('is asked once more what was said to it, and not to its origin', async () => {
    const origin = await recordedRun();
    const atSeq = (await readFacts(origin.runId)).length;
    const { run } = await fork(origin.runId, { atSeq, input: textInput('In French?') });
    await fixture.store.append(await fixture.claim(run.id), [iterationStarted(3), ended(3)]);

    const again = await fixture.runs.question(run);
    const asked = { again, edits: again.messageId, input: undefined, onActiveRun: 'replace' } as const;
    const { run: next } = await fixture.create({ threadId: run.thread_id, ...asked });

    const { earlier, log } = await fixture.claim(next.id);
    const said = [...earlier, ...log.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message] : []))];
    const texts = said.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
    );
    expect(texts.filter((text) => text !== 'Earlier.').slice(1)).toEqual([
      'call_me when msg_x is done.',
      expect.stringMatching(/^I read it with /),
      'Found it.',
      noteOfFork,
      'In French?',
    ]);
  });

  it('had the files of its origin until it was made, and has its own since', async () => {
    const { accountId, runs } = fixture;
    const { runId, threadId } = await recordedRun();
    const log = await readFacts(runId);
    const atSeq = log.find(({ type }) => type === 'iteration.completed')?.seq ?? 0;
    const { run } = await fork(runId, { atSeq: log.length, input: textInput('Once more.') });
    const findFiles = (id: RunId, seq: number) => runs.readMoment({ accountId, runId: id, atSeq: seq });

    expect(await findFiles(run.id, atSeq)).toEqual(await findFiles(runId, atSeq));
    expect(await findFiles(run.id, run.last_seq)).toMatchObject({ runId: run.id, threadId: run.thread_id });
    await fixture.threads.delete({ accountId, threadId });
    await expect(findFiles(run.id, atSeq)).rejects.toMatchObject({ code: 'files_not_kept' });
  });

  it('has the note of what is missing in a message of its own, apart from the words of the person', async () => {
    const origin = await recordedRun();
    const atSeq = (await readFacts(origin.runId)).length;
    const { facts } = await fork(origin.runId, { atSeq, input: textInput('Once more.') });

    expect(facts).toMatchObject([
      { type: 'run.forked' },
      { data: { message: { type: 'user', content: textInput('Once more.') } } },
      { data: { message: { type: 'user', metadata: { kind: 'fork_note' } } } },
    ]);
  });

  it('of a fork can be forked, and says so when the log of its origin is gone', async () => {
    const origin = await recordedRun();
    const { run: first } = await fork(origin.runId, { atSeq: 2 });
    const { run: second } = await fork(first.id, { atSeq: first.last_seq });
    expect((await readFacts(second.id)).filter(({ type }) => type === 'run.forked')).toHaveLength(2);

    await fixture.database.sql.query(
      `update runs set events_trimmed_through = 1, events_trimmed_hash = 'x' where id = $1`,
      [first.id],
    );

    const { forked_from } = await fixture.runs.verify({ accountId: fixture.accountId, runId: second.id });
    expect(forked_from).toMatchObject({ run_id: first.id, holds: null });
    await expect(fork(first.id, { atSeq: 1 })).rejects.toMatchObject({ code: 'log_trimmed' });
  });

  it('is refused when its first facts went while it was made', async () => {
    const { runId } = await recordedRun();
    await fixture.database.sql.query('delete from run_events where run_id = $1 and seq = 1', [runId]);

    await expect(fork(runId, { atSeq: 2 })).rejects.toMatchObject({ code: 'log_trimmed' });
  });

  it('is refused beyond the log, without an input where the model has ended its turn, and for another account', async () => {
    const origin = await recordedRun();
    const last = (await readFacts(origin.runId)).length;

    await expect(fork(origin.runId, { atSeq: last + 1 })).rejects.toMatchObject({
      code: 'unknown_seq',
      field: 'at_seq',
    });
    await expect(fork(origin.runId, { atSeq: last })).rejects.toMatchObject({ code: 'fork_needs_input' });
    await expect(fork(origin.runId, { atSeq: 1, accountId: 'acc_other' as never })).rejects.toMatchObject({
      code: 'run_not_found',
    });
  });
});
