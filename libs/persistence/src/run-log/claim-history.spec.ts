import { type Coverage, type NewFact, type RecordedFact, type RunId, noUsage } from '@rondo/contract';
import { type ClaimedRun, replay } from '@rondo/domain';
import { toContext } from '@rondo/domain/testing';
import { type MessageRow, toMessage } from './message-row';
import { type FactRow, toFact } from './run-row';
import { iterationFacts, message, summaryFacts } from '../testing/iteration-facts';
import { StoreFixture, textInput, started } from '../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const long = (word: string) => `${word} `.repeat(4_000);

/** An iteration with one call; answers with its first and its last message. */
async function iterate(
  claim: ClaimedRun,
  iteration: number,
  { tool = 'execute_command', input = {} } = {},
): Promise<Coverage> {
  const said = [{ type: 'text' as const, text: long(`reply${iteration}`) }];
  const output = long(`result${iteration}`);
  const { facts, covers } = iterationFacts(claim, { iteration, tool, input, said, output });
  await fixture.store.append(claim, facts);
  return covers;
}

const summarize = (claim: ClaimedRun, iteration: number, covers: Coverage) =>
  fixture.store.append(claim, summaryFacts(claim, { iteration, covers, text: `What was said until ${iteration}.` }));

/** What a claim read before it left anything out. */
async function whole({ runId, threadId }: ClaimedRun) {
  const { sql } = fixture.database;
  const facts = await sql.query<FactRow>(
    `select id, seq, type, run_id, $2 as thread_id, iteration, epoch, at, data from run_events where run_id = $1 order by seq`,
    [runId, threadId],
  );
  const earlier = await sql.query<MessageRow>(
    `select * from messages where thread_id = $1 and run_id is distinct from $2 and is_llm_message
      and seq <= (select past_through from runs where id = $2) order by seq`,
    [threadId, runId],
  );
  return { log: facts.map(toFact), earlier: earlier.map(toMessage) };
}

interface Past {
  readonly log: readonly RecordedFact[];
  readonly earlier: Parameters<typeof replay>[1];
}

/** Everything but the conversation, and what is sent of that. */
function standing(runId: RunId, { log, earlier }: Past) {
  const { conversation, ...state } = replay(log, earlier);
  const sent = toContext(conversation, state.context, { runId, model: 'demo/coder', keepImages: 3 });
  return { ...state, sent: sent.map(({ message: { id, content } }) => ({ id, content })) };
}

const countBytes = (past: unknown) => JSON.stringify(past).length;

const claimAgain = async (claim: ClaimedRun): Promise<ClaimedRun> => {
  await fixture.store.handOver(claim);
  return fixture.claim(claim.runId);
};

const next = async ({ threadId }: ClaimedRun): Promise<ClaimedRun> => {
  const { run } = await fixture.create({ threadId, input: textInput('And now?') });
  return fixture.claim(run.id);
};

const completed = (iteration: number): NewFact => ({
  type: 'run.completed',
  iteration,
  data: { finish_reason: 'stop', usage: noUsage },
});

describe('what a claim reads', () => {
  it('is what follows the latest summary, and stands for the whole: of the run itself', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started]);
    const first = await iterate(claim, 1);
    for (const iteration of [2, 3]) await iterate(claim, iteration);
    const fourth = await iterate(claim, 4);
    await iterate(claim, 5);
    await summarize(claim, 5, { ...first, to_message_id: fourth.to_message_id });
    await iterate(claim, 6);

    const again = await claimAgain(claim);

    const all = await whole(again);
    expect(standing(again.runId, again)).toEqual(standing(again.runId, all));
    expect(countBytes(again.log)).toBeLessThan(countBytes(all.log) * 0.5);
    expect(JSON.stringify(again.log)).not.toMatch(/reply[23]|result[23]/);
  });

  it('has the words of a person who answered in the middle of what a summary stands for', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started]);
    for (const iteration of [1, 2]) await iterate(claim, iteration);
    const words = message(claim, 2, { type: 'user', content: [{ type: 'text', text: 'In the middle.' }] });
    await fixture.store.append(claim, [{ ...words, data: { message: { ...words.data.message, iteration: null } } }]);
    await iterate(claim, 3);
    const fourth = await iterate(claim, 4);
    await iterate(claim, 5);
    const { log } = await whole(claim);
    const input = log.find(({ type }) => type === 'message.created');
    if (input?.type !== 'message.created') throw new Error('it begins with its input');
    await summarize(claim, 5, { from_message_id: input.data.message.id, to_message_id: fourth.to_message_id });

    const again = await claimAgain(claim);

    expect(standing(again.runId, again)).toEqual(standing(again.runId, await whole(again)));
    expect(JSON.stringify(again.log)).toContain('In the middle.');
    expect(JSON.stringify(again.log)).not.toMatch(/result[13]/);
  });

  it('says which tools were loaded in completed iterations', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started]);
    const loading: Partial<Record<NewFact['type'], string[]>> = {
      'tool.planned': ['a__b'],
      'tool.completed': ['c__d'],
    };
    const { facts } = iterationFacts(claim, {
      iteration: 1,
      tool: 'tool_search',
      input: {},
      said: [],
      output: 'found',
    });
    const loaded = facts.map((fact) => {
      const loaded_tools = loading[fact.type];
      return loaded_tools ? ({ ...fact, data: { ...fact.data, loaded_tools } } as NewFact) : fact; // of these two types
    });
    await fixture.store.append(claim, loaded);
    await iterate(claim, 2, { tool: 'read_file' });

    const again = await claimAgain(claim);

    expect(replay(again.log, again.earlier).loadedTools).toEqual(['a__b', 'c__d']);
    expect(standing(again.runId, again)).toEqual(standing(again.runId, await whole(again)));
  });

  it.each(['execute_command', 'bash', 'shell_exec', 'notes__read'])(
    'says that %s was called in a completed iteration, so that a stop ends what it left running (I7)',
    async (tool) => {
      const claim = await fixture.claimed();
      await fixture.store.append(claim, [started]);
      await iterate(claim, 1, { tool });
      await iterate(claim, 2, { tool: 'read_file' });
      await iterate(claim, 3, { tool: 'read_file' });

      const { log } = await claimAgain(claim);

      const starts = log.flatMap((fact) => (fact.type === 'tool.started' ? [fact.data.name] : []));
      expect(starts).toContain(tool);
      expect(starts.filter((name) => name === 'read_file').length).toBeLessThan(2);
    },
  );

  it('of a thread is known before there is a run to claim it', async () => {
    const claim = await fixture.claimed();
    const { accountId, threadId } = claim;
    await fixture.store.append(claim, [started]);
    const first = await iterate(claim, 1);
    await iterate(claim, 2);
    const third = await iterate(claim, 3);
    await summarize(claim, 3, { ...first, to_message_id: third.to_message_id });
    await iterate(claim, 4);
    await fixture.store.append(claim, [completed(4)]);
    await fixture.messages.add({ accountId, threadId, content: textInput('One more.') });

    const foreseen = await fixture.messages.forNextRun({ accountId, threadId });

    expect(foreseen).toEqual((await next(claim)).earlier);
    expect(JSON.stringify(foreseen)).not.toMatch(/reply2|result2/);
  });

  it('is what follows the latest summary, and stands for the whole: of the runs before', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started]);
    const first = await iterate(claim, 1);
    await iterate(claim, 2);
    const third = await iterate(claim, 3);
    await iterate(claim, 4);
    await summarize(claim, 4, { ...first, to_message_id: third.to_message_id });
    await fixture.store.append(claim, [completed(4)]);

    const second = await next(claim);
    const atFirst = await whole(second);
    expect(standing(second.runId, second)).toEqual(standing(second.runId, atFirst));
    expect(JSON.stringify(second.earlier)).not.toMatch(/reply2|result2/);
    expect(JSON.stringify(second.earlier)).toMatch(/reply4/);

    await fixture.store.append(second, [started]);
    await iterate(second, 1);
    const own = await iterate(second, 2);
    await iterate(second, 3);
    await summarize(second, 3, { ...first, to_message_id: own.to_message_id });
    const again = await claimAgain(second);
    const all = await whole(again);
    expect(standing(again.runId, again)).toEqual(standing(again.runId, all));
    expect(JSON.stringify(again.earlier)).not.toMatch(/result1|reply[24]/);
  });

  it('is the newest 16 MiB of what was said before', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [completed(1)]);
    const text = 'x'.repeat(2_000_000);
    for (let messages = 0; messages < 12; messages += 1) {
      const content = textInput(`${messages} ${text}`);
      await fixture.messages.add({ accountId: fixture.accountId, threadId: claim.threadId, content });
    }

    const second = await next(claim);

    expect(countBytes(second.earlier)).toBeLessThan(17 * 1024 * 1024);
    expect(second.earlier.map(({ seq }) => seq)).toEqual([6, 7, 8, 9, 10, 11, 12, 13]);
  });
});

describe('the archive of a thread', () => {
  it('has the messages and the calls that a claim did not read, and none of other threads', async () => {
    const claim = await fixture.claimed();
    await fixture.store.append(claim, [started]);
    const write = { tool: 'simple_memory', input: { action: 'write', content: 'the note' } };
    const first = await iterate(claim, 1, write);
    const second = await iterate(claim, 2);
    const third = await iterate(claim, 3);
    await summarize(claim, 3, { ...first, to_message_id: third.to_message_id });
    const again = await claimAgain(claim);
    const archive = fixture.store.toArchive(again);
    const strange = fixture.store.toArchive(await fixture.claimed());

    expect(JSON.stringify(again.log)).not.toContain(second.to_message_id);
    expect(JSON.stringify(await archive.message(second.to_message_id))).toContain('result2');
    expect(await archive.listSucceeded('simple_memory')).toMatchObject([
      { runId: again.runId, arguments: write.input },
    ]);
    expect(await strange.message(second.to_message_id)).toBeUndefined();
    expect(await strange.listSucceeded('simple_memory')).toEqual([]);
  });
});
