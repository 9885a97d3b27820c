import {
  type Fact,
  type ModelRequest,
  type RondoClient,
  type RunView,
  type RunningRondo,
  smallContext,
} from '@rondo/test-deployment';
import { expectWholeLog } from '../log-expectations';
import { newAccount, ordinaryDeployment } from '../shared-deployment';

/** Limits so small that a few results of `loop` reach them. */
const loop = 'loop:turns=30,output_bytes=2000';
const loopIterations = 31;

const strategies = {
  summary: { profile: 'suna', context: {} },
  head_tail: { profile: 'ii', context: { keep_first: 0, max_turns: 12, token_threshold: 60_000 } },
};

describe('a long conversation in a deployment (I6, I13)', () => {
  let rondo: RunningRondo;
  let client: RondoClient;

  beforeAll(async () => {
    rondo = await ordinaryDeployment();
    client = await newAccount(rondo);
  });

  const start = ({ context, ...body }: { model: string; context: object } & Record<string, unknown>) =>
    client.createRun({
      input: 'Go on until you are done.',
      tools: ['execute_command', 'expand_message'],
      ...body,
      context: { ...smallContext, ...context },
    });

  const completed = async ({ id }: RunView): Promise<Fact[]> => {
    expect(await client.waitForRun(id)).toMatchObject({ status: 'completed' });
    const facts = await client.facts(id);
    expectWholeLog(facts);
    expectHonestCompactions(facts);
    return facts;
  };

  /** The requests to a model of the demo model, by its name without the provider. */
  const readRequests = async (model: string): Promise<ModelRequest[]> =>
    (await rondo.modelRequests()).filter((request) => request.model === model);

  const untilAsked = async (model: string): Promise<void> => {
    while ((await readRequests(model)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20)); // the demo model has no event for it
  };

  it.each([
    ['demo', 'summary'],
    ['demo', 'head_tail'],
    ['demo-anthropic', 'summary'],
    ['demo-anthropic', 'head_tail'],
  ] as const)('is compacted three times and keeps what a summary must remember: %s, %s', async (provider, strategy) => {
    const secret = `Remember the vault code of ${provider} and ${strategy}: 4711.`;
    const before = await client.createRun({ model: `${provider}/plain`, input: secret });
    await client.waitForRun(before.id);

    const { profile, context } = strategies[strategy];
    const run = await start({
      model: `${provider}/${loop}`,
      profile,
      thread_id: before.thread_id,
      context: { ...context, summary_model: `${provider}/summary` },
    });
    const watched = client.watch(run.id);
    const facts = await completed(run);

    const compactions = ofType(facts, 'context.compacted');
    expect(compactions.length).toBeGreaterThanOrEqual(3);
    expect(new Set(listMethods(facts))).toEqual(new Set(['summary']));
    const knowing = async (model: string) => (await readRequests(model)).filter(({ body }) => body.includes(secret));
    expect(await knowing('summary')).toHaveLength(compactions.length);
    const sent = await knowing(loop);
    expect(sent).toHaveLength(loopIterations);
    const fromSummary = sent.map(({ body }) => body.includes(`- ${secret}`)); // as the summary script writes it
    expect(fromSummary.indexOf(true)).toBe(compactions[0]?.iteration);
    expect(fromSummary.lastIndexOf(false)).toBe(fromSummary.indexOf(true) - 1);
    const bills = facts.filter(({ type, data }) => type === 'usage.recorded' && data.finish_reason === 'summary');
    expect(bills).toHaveLength(compactions.length);

    const bytes = facts.map((fact) => JSON.stringify(fact));
    expect((await client.sse(run.id)).map(({ data }) => data)).toEqual(bytes);
    expect((await watched).filter(({ seq }) => seq !== null).map((fact) => JSON.stringify(fact))).toEqual(bytes);
  });

  it.each(['demo/empty', 'demo/error-500'])(
    'keeps every message when the summary model always fails: %s',
    async (model) => {
      const facts = await completed(await start({ model: `demo/${loop}`, context: { summary_model: model } }));

      expect(ofType(facts, 'context.compaction_failed')).not.toEqual([]);
      expect(new Set(listMethods(facts))).toEqual(new Set(['compression']));
      expect(ofType(facts, 'iteration.completed')).toHaveLength(loopIterations);
    },
  );

  it('has one summary, or records that it has none, when the summarizer is killed while it writes (I3)', async () => {
    const summaryModel = 'summary:delay_ms=6000';
    const run = await start({
      model: 'demo/loop:turns=16,output_bytes=2000',
      context: { summary_model: `demo/${summaryModel}` },
    });
    await untilAsked(summaryModel);
    await rondo.services.get('summarizer').kill();

    const facts = await completed(run);

    const [abandoned] = await readRequests(summaryModel);
    expect(abandoned?.closed_by_client_at).not.toBeNull();
    expect(ofType(facts, 'context.compaction_started')).not.toEqual([]);
  });

  it('stops within five seconds while it waits for a summary (I7)', async () => {
    const summaryModel = 'summary:delay_ms=60000';
    const run = await start({ model: `demo/${loop}`, context: { summary_model: `demo/${summaryModel}` } });
    await untilAsked(summaryModel);

    const began = Date.now();
    await client.json('POST', `/runs/${run.id}/stop`, {});
    expect(await client.waitForRun(run.id)).toMatchObject({ status: 'stopped' });
    expect(Date.now() - began).toBeLessThan(5_000);

    const facts = await client.facts(run.id);
    expectWholeLog(facts);
    expectHonestCompactions(facts);
    expect((await readRequests(summaryModel)).map(({ closed_by_client_at }) => closed_by_client_at)).not.toContain(
      null,
    );
  });

  it('is compacted and sent again when the provider refuses it as too long', async () => {
    const model = 'loop:turns=12,output_bytes=2000,context_limit=6500';
    const facts = await completed(await start({ model: `demo/${model}`, context: { token_threshold: 120_000 } }));

    const [shortened, ...more] = ofType(facts, 'context.compacted');
    expect(shortened?.data).toMatchObject({ method: 'compression', reason: 'overflow' });
    expect(more).toEqual([]);
    const refused = (await readRequests(model)).filter(({ tokens_sent }) => tokens_sent === 0);
    expect(refused).toHaveLength(1);
  });

  it('fails with a clear error if even the shortest context is too long', async () => {
    const run = await start({ model: 'demo/loop:turns=12,context_limit=100', context: {} });

    expect(await client.waitForRun(run.id)).toMatchObject({
      status: 'failed',
      error: { code: 'context_window_exceeded' },
    });
    expectWholeLog(await client.facts(run.id));
  });

  it('continues without a summary when no summarizer runs', async () => {
    await rondo.services.get('summarizer').stop();
    const facts = await completed(
      await start({ model: 'demo/loop:turns=12,output_bytes=2000', context: { summary_model: 'demo/summary' } }),
    );

    expect(ofType(facts, 'context.compaction_failed')).not.toEqual([]);
    expect(new Set(listMethods(facts))).toEqual(new Set(['compression']));
  });
});

const ofType = (facts: readonly Fact[], wanted: string): Fact[] => facts.filter(({ type }) => type === wanted);

const listMethods = (facts: readonly Fact[]): string[] =>
  ofType(facts, 'context.compacted').map(({ data }) => String(data.method));

/** Each summary that was asked for has one end, with it or without; and no summary is in the log twice. */
function expectHonestCompactions(facts: readonly Fact[]): void {
  const compactions = ofType(facts, 'context.compacted').filter(({ data }) => data.method === 'summary');
  const ends = [...compactions, ...ofType(facts, 'context.compaction_failed')];
  const asked = ofType(facts, 'context.compaction_started');
  expect(listCompactions(ends)).toEqual(listCompactions(asked));

  const summaries = ofType(facts, 'message.created').filter(({ data }) => data.message.type === 'summary');
  expect(summaries.map(({ data }) => String(data.message.id))).toEqual(
    compactions.map(({ data }) => String(data.message_id)),
  );
}

const listCompactions = (facts: readonly Fact[]): string[] =>
  facts.map(({ data }) => String(data.compaction_id)).toSorted();
