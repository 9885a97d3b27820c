import { type Fact, type RondoClient, type RunView, RunningRondo } from '@rondo/test-deployment';
import { expectWholeLog } from './log-expectations';
import { strictProviders } from './strict-providers/providers';
import { StrictServer } from './strict-providers/strict-server';
import { stepNumber, taskMark, wholeLog } from './strict-providers/task';

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
const withoutEffort: ReadonlySet<string> = new Set(['openai', 'xai', 'kimi-anthropic']);

/** Each provider refuses what the real one refuses; the runs are those that a user of it would start first. */
describe('a task of 50 steps with an image and an effort, during which a worker is killed and the context overflows', () => {
  let server: StrictServer;
  let rondo: RunningRondo;
  let client: RondoClient;
  let runs: ReadonlyMap<string, RunView>;

  beforeAll(async () => {
    server = await StrictServer.open();
    const models = { MODEL_PROVIDERS: server.modelProviders };
    rondo = await RunningRondo.start({
      instances: ['tool-executor', 'agent-worker', 'summarizer', 'gateway'],
      settings: { gateway: models, 'agent-worker': models, summarizer: models },
    });
    client = rondo.client();
    runs = new Map(
      await Promise.all(strictProviders.map(async (provider) => [provider.name, await start(provider)] as const)),
    );
    await server.reached(steps / 2);
    await rondo.services.get('agent-worker').kill();
  });

  afterAll(async () => {
    await rondo.stop();
    await server.close();
  });

  const start = ({ name, model }: { name: string; model: string }) =>
    client.createRun({
      model: `${name}/${model}`,
      input: [
        { type: 'text', text: taskMark({ id: toId(name), steps }) },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
      ],
      llm: { reasoning_effort: 'high', enable_thinking: true, thinking_budget: 2048 },
    });

  it.each(strictProviders.map(({ name }) => [name]))('%s', async (name) => {
    const id = runs.get(name)?.id ?? '';
    const task = { id: toId(name), steps };

    const settled = await client.settled(id);

    const reasons = server.refusals.filter((refusal) => refusal.task === task.id).map(({ reason }) => reason);
    const refusals = reasons.filter((reason) => !mayBeLearned.test(reason));
    expect({ ...settled, refusals }).toMatchObject({ status: 'completed', finish_reason: 'stop', refusals: [] });
    expect(reasons.length).toBeLessThanOrEqual(2);
    const facts = await client.facts(id);
    expectWholeLog(facts);
    expect(outputs(facts).at(-1)).toBe(wholeLog(task));
    expect(server.overflows.get(task.id)).toBeGreaterThan(0);
    expect(JSON.stringify(facts)).not.toContain(stepNumber(task, 3).signature);
    expect(readEfforts(facts)).toEqual(withoutEffort.has(name) ? [] : [name === 'anthropic' ? 'none' : 'high']);
  });

  it.each(strictProviders.map(({ name, model, documents }) => [name, documents ?? onlyPath, model]))(
    'gives %s an uploaded PDF as %s',
    async (name, form, model) => {
      const task = { id: `${toId(name)}_pdf`, steps: 1 };
      const body = new FormData();
      body.set('file', new Blob([pdfOfOnePage]), 'one.pdf');
      const headers = { authorization: `Bearer ${client.key}` };
      const uploaded = await fetch(`${client.url}/v1/files`, { method: 'POST', headers, body });
      const { id: file } = (await uploaded.json()) as { id: string };
      const run = await client.createRun({
        ...{ model: `${name}/${model}`, input: taskMark(task), files: [file] },
        llm: { reasoning_effort: 'high', enable_thinking: true },
      });

      const settled = await client.settled(run.id);

      const refusals = server.refusals.filter((one) => one.task === task.id && !mayBeLearned.test(one.reason));
      expect({ ...settled, refusals }).toMatchObject({ status: 'completed', finish_reason: 'stop', refusals: [] });
      expect(server.documents.get(task.id)).toEqual(form === onlyPath ? [] : [form]);
    },
  );
});

/** No model has a name that begins like this, so that steps are found by it. */
const toId = (name: string) => `task_${name.replaceAll('-', '')}`;

/** What only the model itself can tell is learned from a refusal: once by each of the two worker processes. */
const mayBeLearned = /^Unsupported parameter|does not support image/;

/** The outputs of the run's calls, in order. */
const outputs = (facts: readonly Fact[]): string[] =>
  facts.flatMap(({ type, data }) => (type === 'tool.completed' ? [data.result.output as string] : []));

/** The efforts that the provider was asked for. */
const readEfforts = (facts: readonly Fact[]): unknown[] => [
  ...new Set(facts.flatMap(({ type, data }) => (type === 'usage.recorded' ? (data['reasoning_effort'] ?? []) : []))),
];
