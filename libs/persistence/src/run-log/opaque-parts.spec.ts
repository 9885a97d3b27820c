import type { Opaque } from '@rondo/contract';
import { type ClaimedRun, replay } from '@rondo/domain';
import { iterationFacts, summaryFacts } from '../testing/iteration-facts';
import { StoreFixture, settings, started } from '../testing/store-fixture';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await StoreFixture.open();
});
afterAll(() => fixture.close());

const secret = 'c2VjcmV0LXNpZ25hdHVyZQ';

/** What a provider gave, with all that a database might change: the order of keys, spaces, numbers, and rare characters. */
const ofThought: Opaque = {
  maker: 'acme/thinker',
  data: { z: 1.0, signature: secret, a: { b: [null, ' two  spaces ', 'é\u2028"\\', 1e21] } },
  bound: true,
};
const ofCall: Opaque = { maker: 'acme/thinker', data: { extra_content: { google: { thought_signature: secret } } } };
const given = JSON.stringify([ofThought, ofCall]);

/** An iteration with a thought and a call, which gives both of them what is opaque; answers with its first and last message. */
async function iterate(claim: ClaimedRun, iteration: number, opaque = false) {
  const { facts, covers } = iterationFacts(claim, {
    iteration,
    tool: 'read_file',
    said: [{ type: 'reasoning', text: 'Hm.', ...(opaque && { opaque: ofThought }) }],
    given: opaque ? { opaque: ofCall } : {},
    output: 'found',
  });
  await fixture.store.append(claim, facts);
  return covers;
}

/** A run whose second iteration has what is opaque. */
async function recordedRun(): Promise<{ claim: ClaimedRun; first: Awaited<ReturnType<typeof iterate>> }> {
  const claim = await fixture.claimed();
  await fixture.store.append(claim, [started]);
  const first = await iterate(claim, 1);
  await iterate(claim, 2, true);
  return { claim, first };
}

/** What a holder of the run would send back to its model. */
function opaqueIn({ log, earlier }: ClaimedRun): string {
  const blocks = replay(log, earlier).conversation.flatMap(({ content }) => content);
  return JSON.stringify(blocks.flatMap((block) => ('opaque' in block ? [block.opaque] : [])));
}

async function claimAgain({ runId }: ClaimedRun, owner: string): Promise<ClaimedRun> {
  await fixture.expireLease(runId);
  return fixture.claim(runId, owner);
}

async function shown({ runId, threadId }: ClaimedRun): Promise<string> {
  const { accountId } = fixture;
  const run = { accountId, runId };
  const thread = { accountId, threadId };
  const page = { after: 0, limit: 200 };
  return JSON.stringify([
    await fixture.runs.get(run),
    await fixture.runs.events(run, page),
    await fixture.runs.open(run, page),
    await fixture.runs.why(run),
    await fixture.messages.list({ ...thread, after: undefined, limit: 100 }),
    await fixture.threads.get(thread),
    await fixture.published(),
  ]);
}

describe('what is opaque in a message', () => {
  const isHidden = (text: string) => {
    expect(text).toContain('Hm.');
    expect(text).not.toContain('opaque');
    expect(text).not.toContain(secret);
  };

  it('is in nothing that is shown, and returns byte by byte to the next holder', async () => {
    const { claim } = await recordedRun();

    isHidden(await shown(claim));
    expect(opaqueIn(await claimAgain(claim, 'worker-2'))).toBe(given);
  });

  it('is in a fork as it was, and as hidden', async () => {
    const { claim } = await recordedRun();
    const { accountId } = fixture;
    const { data } = await fixture.runs.events({ accountId, runId: claim.runId }, { after: 0, limit: 200 });

    const { run } = await fixture.runs.fork({ accountId, runId: claim.runId, settings, atSeq: data.at(-1)?.seq ?? 0 });

    const fork = await fixture.claim(run.id);
    expect(opaqueIn(fork)).toBe(given);
    isHidden(await shown(fork));
  });

  it('outlives a compaction of what came before it', async () => {
    const { claim, first: covers } = await recordedRun();
    await fixture.store.append(claim, summaryFacts(claim, { iteration: 2, covers, text: 'A file was read.' }));

    const again = await claimAgain(claim, 'worker-3');

    expect(opaqueIn(again)).toBe(given);
    isHidden(await shown(again));
  });
});
