import { profileNames } from '@rondo/domain';
import { type Fact, type RondoClient, type RunView, RunningRondo } from '@rondo/test-deployment';
import { expectWholeLog } from './log-expectations';
import { type ProviderOutcome, documentTable, readTable, providerTable } from './strict-providers/provider-table';
import { type StrictProvider, strictProviders } from './strict-providers/providers';
import { StrictServer } from './strict-providers/strict-server';
import { stepNumber, taskMark, wholeLog } from './strict-providers/task';

/** Set by `npm run models`, which writes the table that this file otherwise compares. */
const isWriting = process.env['WRITE_MODELS_TABLE'] !== undefined;

const steps = 50;
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const pdfOfOnePage = [
  '%PDF-1.4',
  '1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj',
  '2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj',
  '3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 100]>> endobj',
  'trailer <</Root 1 0 R>>',
  '%%EOF',
].join('\n');
const onlyPath = 'its path alone';

/**
 * GPT-4.1 has no efforts, Grok 4 refuses them, and the budget for thinking, which runs name here too, says more to Claude: where a
 * summary has ended its turn, it may not think any more.
 */
const withoutEffort: ReadonlySet<string> = new Set(['openai', 'azure', 'xai', 'kimi-anthropic']);
const claude = /^anthropic$|claude$/;

/** Each provider refuses what the real one refuses; the runs are those that a user of it would start first. */
describe('a task of 50 steps with an image and an effort, during which a worker is killed and the context overflows', () => {
  let server: StrictServer;
  let rondo: RunningRondo;
  let client: RondoClient;
  let runs: ReadonlyMap<string, RunView>;
  /** The providers whose answers a client had seen the beginning of while they went on. */
  const streamed = new Set<string>();

  beforeAll(async () => {
    server = await StrictServer.open();
    const providers = { MODEL_PROVIDERS: server.modelProviders };
    const models = { ...providers, STRICT_KEY: 'key' };
    rondo = await RunningRondo.start({
      instances: ['tool-executor', 'agent-worker', 'summarizer', 'gateway'],
      settings: {
        gateway: { ...providers, MODEL_KEYS_PRESENT: 'STRICT_KEY' },
        'agent-worker': models,
        summarizer: models,
      },
    });
    client = rondo.client();
    const gates = strictProviders.map(({ name }) => server.addGates(toTask(name)));
    runs = new Map(
      await Promise.all(strictProviders.map(async (provider) => [provider.name, await start(provider)] as const)),
    );
    await Promise.all(
      strictProviders.map(({ name }, place) => Promise.race([gates[place]?.half.reached, settle({ name })])),
    );
    await rondo.services.get('agent-worker').kill();
    for (const [place, { name }] of strictProviders.entries()) void seeAnswer(name, gates[place]);
    for (const { half } of gates) half.open();
  });

  afterAll(async () => {
    await rondo.stop();
    await server.close();
  });

  const start = ({ name, model }: StrictProvider) =>
    client.createRun({
      model: `${name}/${model}`,
      input: [
        { type: 'text', text: taskMark(toTask(name)) },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
      ],
      llm: { reasoning_effort: 'high', enable_thinking: true, thinking_budget: 2048 },
    });

  /** Lets an answer end after a client has seen its first words. */
  async function seeAnswer(name: string, gates: ReturnType<StrictServer['addGates']> | undefined): Promise<void> {
    await gates?.answer.reached;
    await client.waitForEvent(runs.get(name)?.id ?? '', 'message.delta');
    streamed.add(name);
    gates?.answer.open();
  }

  const settle = async ({ name }: { name: string }) => {
    const settled = await client.waitForRun(runs.get(name)?.id ?? '');
    return { settled, facts: await client.facts(settled.id) };
  };

  const refusalsBy = ({ id }: { id: string }): string[] =>
    server.refusals.filter(({ task }) => task === id).map(({ reason }) => reason);

  it.each(strictProviders.map((provider) => [provider.name, provider] as const))('%s', async (name, provider) => {
    const task = toTask(name);

    const { settled, facts } = await settle(provider);

    const reasons = refusalsBy(task);
    const refusals = reasons.filter((reason) => !mayBeLearned.test(reason));
    expect({ ...settled, refusals }).toMatchObject({ status: 'completed', finish_reason: 'stop', refusals: [] });
    expect(reasons.length).toBeLessThanOrEqual(2);
    expectWholeLog(facts);
    expect(lastOutput(facts)).toEqual(wholeLog(task).split('\n').sort());
    expect(server.overflows.get(task.id)).toBeGreaterThan(0);
    expect(JSON.stringify(facts)).not.toContain(stepNumber(task, 3).signature);
    expect(readEfforts(facts)).toEqual(withoutEffort.has(name) ? [] : [claude.test(name) ? 'none' : 'high']);
  });

  const askAboutPdf = async ({ name, model }: StrictProvider): Promise<RunView> => {
    const body = new FormData();
    body.set('file', new Blob([pdfOfOnePage]), 'one.pdf');
    const headers = { authorization: `Bearer ${client.key}` };
    const uploaded = await fetch(`${client.url}/v1/files`, { method: 'POST', headers, body });
    const { id: file } = (await uploaded.json()) as { id: string };
    const run = await client.createRun({
      ...{ model: `${name}/${model}`, input: taskMark(toPdfTask(name)), files: [file] },
      llm: { reasoning_effort: 'high', enable_thinking: true },
    });
    return client.waitForRun(run.id);
  };

  it.each(strictProviders.map((provider) => [provider.name, provider.documents ?? onlyPath, provider] as const))(
    'gives %s an uploaded PDF as %s',
    async (name, form, provider) => {
      const settled = await askAboutPdf(provider);

      const { id } = toPdfTask(name);
      const refusals = refusalsBy({ id }).filter((reason) => !mayBeLearned.test(reason));
      expect({ ...settled, refusals }).toMatchObject({ status: 'completed', finish_reason: 'stop', refusals: [] });
      expect(server.documents.get(id)).toEqual(form === onlyPath ? [] : [form]);
    },
  );

  /** What was seen of a provider by the tests before, or by a task of its own where they did not run. */
  async function readOutcome(provider: StrictProvider): Promise<ProviderOutcome> {
    const { name, model } = provider;
    const task = toTask(name);
    const { settled, facts } = await settle(provider);
    if (!server.documents.has(toPdfTask(name).id)) await askAboutPdf(provider);
    const isWhole =
      settled.status === 'completed' && String(lastOutput(facts)) === String(wholeLog(task).split('\n').sort());
    const observed = server.observed.get(task.id);
    return {
      ...{ name, model, isWhole },
      tookTwoAtOnce: isWhole && mostCallsAtOnce(facts) === 2,
      wasStreamed: streamed.has(name),
      thoughts: [...(observed?.thoughts ?? [])].sort(),
      efforts: [...(observed?.efforts ?? [])].sort(),
      image: observed?.image ?? false,
      documents: server.documents.get(toPdfTask(name).id) ?? [],
      wentOnAfterOverflow: isWhole && (server.overflows.get(task.id) ?? 0) > 0,
      wentOnAfterKill: isWhole && new Set(facts.map(({ epoch }) => epoch)).size > 1,
      learned: [...new Set(refusalsBy(task).flatMap((reason) => mayBeLearned.exec(reason)?.groups?.what ?? []))].sort(),
    };
  }

  it('has the results that docs/models.md has', async () => {
    const table = providerTable(await Promise.all(strictProviders.map(readOutcome)));
    if (isWriting) documentTable(table);

    expect(readTable()).toBe(table);
    expect(table).not.toContain('✗');
  });

  it('is done with each profile', () => {
    const names = strictProviders.map(({ name }) => name);
    expect(profileNames.filter((profile) => !names.includes(profile))).toEqual([]);
  });
});

/** No model has a name that begins like this, so that steps are found by it. */
const toId = (name: string) => `task_${name.replaceAll('-', '')}`;
const toTask = (name: string) => ({ id: toId(name), steps });
const toPdfTask = (name: string) => ({ id: `${toId(name)}_pdf`, steps: 1 });

/** What only the model itself can tell is learned from a refusal: once by each of the two worker processes. */
const mayBeLearned = /(?:^Unsupported parameter: '|does not support (?:parameter )?)(?<what>image|\w+)/;

/** The lines of the run's last output. Two of them are from commands that ran at the same time. */
const lastOutput = (facts: readonly Fact[]): string[] => {
  const outputs = facts.flatMap(({ type, data }) => (type === 'tool.completed' ? [String(data.result.output)] : []));
  return (outputs.at(-1) ?? '').split('\n').sort();
};

/** How many calls one reply had at most. */
const mostCallsAtOnce = (facts: readonly Fact[]): number => {
  const iterations = facts.flatMap(({ type, iteration }) => (type === 'tool.planned' ? [iteration] : []));
  return Math.max(...iterations.map((one) => iterations.filter((other) => other === one).length));
};

/** The efforts that the provider was asked for. */
const readEfforts = (facts: readonly Fact[]): unknown[] => [
  ...new Set(facts.flatMap(({ type, data }) => (type === 'usage.recorded' ? (data['reasoning_effort'] ?? []) : []))),
];
