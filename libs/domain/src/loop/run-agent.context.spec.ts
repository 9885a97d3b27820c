import { type SettingsRequest, runId } from '@rondo/contract';
import type { Step } from '../loop-context';
import { toBudgets } from '../models/model-budgets';
import { type ModelRequest, contextOverflow } from '../models/model';
import { readProviders } from '../models/provider-settings';
import { LedgeredTools, RunHarness, ScriptedModel, breaksAfter, calls, says, untoldStreams } from '../testing';
import {
  AnsweringModel,
  readsFiles,
  readsNext,
  remembers,
  saysAtOnce,
  textOfRequest,
  tokensOfRequest,
} from '../testing/answering-model';
import { requestViolations } from '../testing/request-violations';

const page = 'A line of a file that is not needed for long.\n'.repeat(45);
const budget = 30_000;
const planted = 'The password of the vault is XYLOPHONE-7.';

interface Parts {
  readonly files?: number;
  readonly context?: SettingsRequest['context'];
  readonly summarizer?: AnsweringModel | undefined;
}

function build({ files = 60, context = {}, ...parts }: Parts = {}) {
  const model = readsFiles(files);
  const summarizer = 'summarizer' in parts ? parts.summarizer : remembers('XYLOPHONE');
  let reads = 0;
  const tools = new LedgeredTools(() => (reads++ === 0 ? `${planted}\n${page}` : page));
  const settings: SettingsRequest = {
    tools: { web: false }, // the limits below count on short descriptions of tools
    limits: { max_iterations: 500, max_identical_calls: 0 },
    context: { token_threshold: 15_000, reserve_tokens: 1_000, input_budget_tokens: budget, ...context },
  };
  const harness = new RunHarness({
    model,
    tools,
    settings,
    input: 'Read everything.',
    ...(summarizer && { summarizer }),
  });
  return { harness, model, summarizer };
}

/** Every request of every run is valid, fits and contains the task. */
function expectSound(requests: readonly ModelRequest[], limit = budget): void {
  for (const request of requests) {
    expect(requestViolations(request.messages)).toEqual([]);
    expect(tokensOfRequest(request)).toBeLessThanOrEqual(limit);
    expect(textOfRequest(request)).toContain('Read everything.');
  }
}

/** The number of requests that do not begin with the whole previous request. */
const rewrites = (requests: readonly ModelRequest[]): number =>
  requests.filter(({ messages }, at) => {
    const before = requests[at - 1]?.messages ?? [];
    return JSON.stringify(messages.slice(0, before.length)) !== JSON.stringify(before);
  }).length;

const compactions = (harness: RunHarness): number =>
  harness.types.filter((type) => type === 'context.compacted').length;

describe.each([
  ['summary', { strategy: 'summary' }],
  ['head_tail', { strategy: 'head_tail' }],
  ['head_tail by turns', { strategy: 'head_tail', max_turns: 12 }],
] as const)('a run that is too long for its model, strategy %s', (_, context) => {
  it('is compacted again and again, and every request fits and is valid (I6, I13)', async () => {
    const { harness, model } = build({ context });

    await harness.runOn();

    expect(harness.types.at(-1)).toBe('run.completed');
    expect(compactions(harness)).toBeGreaterThanOrEqual(3);
    expect(harness.types).not.toContain('context.compaction_failed');
    expectSound(model.requests);
    expect(rewrites(model.requests)).toBe(compactions(harness));
  });

  it('keeps facts of earlier messages in every later request, through one summary after the other', async () => {
    const { harness, model, summarizer } = build({ context });

    await harness.runOn();

    expect(textOfRequest(summarizer?.requests[0] as ModelRequest)).toContain(planted);
    for (const request of summarizer?.requests ?? []) expect(textOfRequest(request)).toContain('XYLOPHONE-7');
    for (const request of model.requests.slice(1)) expect(textOfRequest(request)).toContain('XYLOPHONE-7');
  });

  it('leaves no messages between two summaries', async () => {
    const { harness } = build({ context });

    await harness.runOn();

    const covers = harness.log.flatMap((fact) =>
      fact.type === 'context.compacted' && fact.data.method === 'summary' ? [fact.data.covers] : [],
    );
    const indexOf = (id: string) => harness.state.conversation.findIndex((message) => message.id === id);
    expect(new Set(covers.map(({ from_message_id }) => from_message_id)).size).toBe(1);
    const ends = covers.map(({ to_message_id }) => indexOf(to_message_id));
    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
  });
});

describe('a run without a useful summarizer', () => {
  const useless: [string, AnsweringModel | undefined][] = [
    ['is missing', undefined],
    ['writes nothing', new AnsweringModel(() => says(''))],
    ['writes more than it was asked for', new AnsweringModel(() => saysAtOnce('blah '.repeat(30_000)))],
    [
      'fails',
      new AnsweringModel(() => [{ type: 'end', how: 'failed', error: { code: 'authentication', message: 'No.' } }]),
    ],
  ];

  it.each(useless)(
    'continues with shortened texts and keeps the whole log: the summarizer %s',
    async (_, summarizer) => {
      const { harness, model } = build({ summarizer });

      await harness.runOn();

      expect(harness.types.at(-1)).toBe('run.completed');
      expect(harness.types).toContain('context.compaction_failed');
      expectSound(model.requests);
      const kept = harness.log.filter((fact) => fact.type === 'message.created' && fact.data.message.type === 'tool');
      expect(kept).toHaveLength(60);
      for (const fact of kept) expect(JSON.stringify(fact.data)).toContain(JSON.stringify(page).slice(1, -1));
      expect(JSON.stringify(kept[0])).toContain(planted);
      expect(rewrites(model.requests)).toBeLessThan(20);
    },
  );
});

it('keeps to the budget without a strategy, by shortening texts alone', async () => {
  const { harness, model } = build({ files: 150, context: { strategy: 'none', input_budget_tokens: 12_000 } });

  await harness.runOn();

  expect(harness.types.at(-1)).toBe('run.completed');
  expectSound(model.requests, 12_000);
  expect(rewrites(model.requests)).toBeLessThan(30);
});

it.each(['summary', 'none'] as const)(
  'shortens the conversation for what it is told at work (I13), strategy %s',
  async (strategy) => {
    const { harness, model } = build({ files: 20, context: { strategy } });
    const content = [{ type: 'text' as const, text: `In blue.${' word'.repeat(18_000)}` }];
    let told = false;
    const tell = (step: Step) => {
      if (told || !('facts' in step) || step.facts[0]?.iteration !== 15) return;
      told = harness.store.steer(harness.id, { queuedRun: runId.parse('run_2'), content });
    };

    while (await harness.activate(tell));

    expect(harness.types.at(-1)).toBe('run.completed');
    expect(harness.store.waitingMessages(harness.id)).toEqual([]);
    for (const request of model.requests.slice(15)) expect(textOfRequest(request)).toContain('In blue.');
    for (const request of model.requests) {
      expect(requestViolations(request.messages)).toEqual([]);
      expect(tokensOfRequest(request)).toBeLessThanOrEqual(budget);
    }
  },
);

it('keeps to the budget in JSON mode, where outputs are sent with a backslash before each quote (I13)', async () => {
  const decide = (decision: object) => saysAtOnce(JSON.stringify(decision));
  const read = { tool_name: 'read_file', parameters: { file_path: 'a.json' } };
  const model = new AnsweringModel((_, nth) =>
    decide(nth > 60 ? { tool_name: 'none', response: 'Done.' } : { ...read }),
  );
  const harness = new RunHarness({
    model,
    tools: new LedgeredTools(() => '{"a":"\\"","b":"\t"}\n'.repeat(100)),
    input: 'Read everything.',
    settings: {
      tools: { web: false },
      processor: { dialect: 'json' },
      limits: { max_iterations: 500, max_identical_calls: 0 },
      context: { strategy: 'none', input_budget_tokens: 12_000 },
    },
  });

  await harness.runOn();

  expect(harness.types.at(-1)).toBe('run.completed');
  expectSound(model.requests, 12_000);
});

it('keeps to the context window that was declared for its model (I13)', async () => {
  const { providers } = readProviders({
    MODEL_PROVIDERS: JSON.stringify([
      { name: 'local', base_url: 'http://127.0.0.1:1/v1', models: [{ id: 'small', context_window: 16_000 }] },
    ]),
  });
  const model = readsFiles(40);
  const harness = new RunHarness({
    model,
    tools: new LedgeredTools(() => page),
    input: 'Read everything.',
    settings: { model: 'local/small', limits: { max_identical_calls: 0 } },
    resolveBudget: toBudgets({ providers }),
  });

  await harness.runOn();

  expect(harness.types.at(-1)).toBe('run.completed');
  expect(harness.types).toContain('context.compacted');
  expectSound(model.requests, 12_000);
});

it('fails when the newest message alone is too long for the model', async () => {
  const harness = new RunHarness({
    model: readsFiles(1),
    input: 'word '.repeat(20_000),
    settings: { context: { input_budget_tokens: 8_000 } },
  });

  await harness.runOn();

  expect(harness.log.at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'context_too_large' } } });
});

it('withdraws a broken reply whose reported usage shows that the next request would be too long (I13)', async () => {
  const broken = breaksAfter('Half').map((chunk) =>
    chunk.type === 'end' && chunk.usage ? { ...chunk, usage: { ...chunk.usage, input_tokens: 20_000 } } : chunk,
  );
  const harness = new RunHarness({
    model: new ScriptedModel([broken]),
    input: 'word '.repeat(5_000),
    settings: { context: { input_budget_tokens: 12_000 } },
  });

  await harness.runOn();

  expect(harness.log.at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: 'context_too_large' } } });
  expect(untoldStreams(harness.log, harness.deltas)).toEqual([]);
});

describe('a request that the provider refuses as too long', () => {
  const refusesAbove = (limit: number, code: string = contextOverflow) =>
    new AnsweringModel((request, nth) =>
      tokensOfRequest(request) > limit
        ? [{ type: 'end', how: 'failed', error: { code, message: 'Too long.' } }]
        : readsNext(nth, 10),
    );
  const harness = (model: AnsweringModel, input_budget_tokens = 0) =>
    new RunHarness({
      model,
      settings: { context: input_budget_tokens ? { strategy: 'none', input_budget_tokens } : {} },
      tools: new LedgeredTools(() => page.repeat(8)),
      input: 'Read everything.',
    });

  it('is retried once at half its size, and later requests stay below the refused size', async () => {
    const model = refusesAbove(15_000);
    const run = harness(model);

    await run.runOn();

    expect(run.types.at(-1)).toBe('run.completed');
    expect(run.log).toContainEqual(
      expect.objectContaining({ type: 'context.compacted', data: expect.objectContaining({ reason: 'overflow' }) }),
    );
    const refused = model.requests.filter((request) => tokensOfRequest(request) > 15_000);
    expect(refused).toHaveLength(1);
  });

  it('is retried where it nearly fills the budget, whatever reason the provider gives', async () => {
    const refusedFor = async (budget: number) => {
      const run = harness(refusesAbove(15_000, 'invalid_request'), budget);
      await run.runOn();
      return run;
    };

    expect((await refusedFor(20_000)).types).toContain('context.compacted');
    expect((await refusedFor(90_000)).log.at(-1)).toMatchObject({
      type: 'run.failed',
      data: { error: { code: 'invalid_request' } },
    });
  });

  it('fails the run when the retry is refused as well', async () => {
    const run = harness(refusesAbove(100));

    await run.runOn();

    expect(run.log.at(-1)).toMatchObject({ type: 'run.failed', data: { error: { code: contextOverflow } } });
  });
});

it('summarizes the conversation once when the model asks for it', async () => {
  const asks = { name: 'compactify_memory', arguments: {} };
  const model = new AnsweringModel((_, nth) => (nth === 6 ? calls(asks) : readsNext(nth, 8)));
  const harness = new RunHarness({
    model,
    input: 'Read everything.',
    summarizer: new AnsweringModel(() => saysAtOnce('Read.')),
  });

  await harness.runOn();

  expect(harness.log.filter(({ type }) => type === 'context.compaction_started')).toEqual([
    expect.objectContaining({ data: expect.objectContaining({ reason: 'requested' }) }),
  ]);
  expect(compactions(harness)).toBe(1);
  expectSound(model.requests);
  expect(textOfRequest(model.requests[6] as ModelRequest)).toContain('CONVERSATION HISTORY SUMMARY');
});

it('summarizes the conversation once when the user sends /compact', async () => {
  const asks = { name: 'ask', arguments: { text: 'What next?' } };
  const model = new AnsweringModel((_, nth) => (nth === 6 ? calls(asks) : readsNext(nth, 8)));
  const harness = new RunHarness({
    model,
    input: 'Read everything.',
    summarizer: new AnsweringModel(() => saysAtOnce('Read.')),
  });

  await harness.runOn();
  harness.store.answer(harness.id, ' /compact\n');
  await harness.runOn();

  expect(harness.log.filter(({ type }) => type === 'context.compaction_started')).toEqual([
    expect.objectContaining({ data: expect.objectContaining({ reason: 'requested' }) }),
  ]);
  expect(compactions(harness)).toBe(1);
  expect(model.requests.flatMap(({ messages }) => requestViolations(messages))).toEqual([]);
});
