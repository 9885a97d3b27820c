import { type ModelErrorCode, type SettingsRequest, isTerminalFact } from '@rondo/contract';
import type { ModelChunk, ModelRequest } from '../models/model';
import type { Model } from '../ports';
import { LedgeredTools, RunHarness, ScriptedModel, breaksAfter, calls, says } from '../testing';
import type { Turn } from '../testing/scripted-model';

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };
const fails = (code: ModelErrorCode): Turn => [{ type: 'end', how: 'failed', error: { code, message: 'Away.' } }];

/** Models by name, each with its script, and all their requests. */
class ModelsByName implements Model {
  readonly requests: ModelRequest[] = [];

  constructor(private readonly models: Readonly<Record<string, Model>>) {}

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]> {
    this.requests.push(request);
    const model = this.models[request.model];
    if (!model) throw new Error(`no model ${request.model}`);
    return model.stream(request, signal);
  }

  get asked(): string[] {
    return this.requests.map(({ model }) => model);
  }
}

const always = (turn: Turn): Model => ({
  async *stream() {
    yield await Promise.resolve(turn);
  },
});

/** Fails so many times, then follows the script. */
const awayFor = (times: number, turns: readonly Turn[]): Model => {
  const script = new ScriptedModel(turns);
  let left = times;
  return {
    stream: (request, signal) => (left-- > 0 ? always(fails('service_unavailable')) : script).stream(request, signal),
  };
};

const createHarness = (models: Record<string, Model>, settings: SettingsRequest, tickMs?: number) => {
  const model = new ModelsByName(models);
  const given = { model: 'a/first', ...settings };
  return { model, harness: new RunHarness({ model, settings: given, ...(tickMs && { tickMs }) }) };
};

const fallbackFacts = ({ log }: RunHarness) =>
  log.flatMap((fact) => (fact.type === 'model.fell_back' ? [fact.data] : []));
const ending = ({ log }: RunHarness) => log.at(-1);

describe('a run whose model is away', () => {
  it('goes on with the next one, which stays for the iterations that follow', async () => {
    const { model, harness } = createHarness(
      { 'a/first': always(fails('service_unavailable')), 'b/second': new ScriptedModel([calls(read), says('Done.')]) },
      { fallbacks: ['b/second'] },
    );
    await harness.runOn();

    expect(model.asked).toEqual(['a/first', 'b/second', 'b/second']);
    expect(ending(harness)?.type).toBe('run.completed');
    expect(fallbackFacts(harness)).toEqual([
      {
        from: 'a/first',
        to: 'b/second',
        error: { code: 'service_unavailable', message: 'Away.' },
        retry_at: expect.any(String),
      },
    ]);
  });

  it('has each call in its usage under the model that was asked, and its messages under the one that wrote them', async () => {
    const { harness } = createHarness(
      { 'a/first': always(fails('rate_limit')), 'b/second': new ScriptedModel([says('Done.')]) },
      { fallbacks: ['b/second'] },
    );
    await harness.runOn();

    const usage = harness.log.flatMap((fact) => (fact.type === 'usage.recorded' ? [fact.data] : []));
    expect(usage.map(({ model, finish_reason }) => [model, finish_reason])).toEqual([
      ['a/first', 'fell_back'],
      ['b/second', 'stop'],
    ]);
    expect(harness.state.conversation.at(-1)?.metadata).toMatchObject({ model: 'b/second' });
  });

  it('asks its own model again after a minute, and after two where it fails again', async () => {
    const turns = Array.from({ length: 30 }, () => calls(read));
    const { model, harness } = createHarness(
      { 'a/first': awayFor(2, [...turns, says('Done.')]), 'b/second': new ScriptedModel([...turns, says('Done.')]) },
      { fallbacks: ['b/second'], limits: { max_identical_calls: 0, max_iterations: 30, max_duration_s: 36_000 } },
      3_000,
    );
    await harness.runOn();

    expect(fallbackFacts(harness)).toHaveLength(2);
    const [, once = '', twice = '', after = ''] = model.asked.join(' ').split('a/first');
    expect(once.length).toBeGreaterThan('b/second'.length);
    expect(twice.length).toBeGreaterThan(1.5 * once.length);
    expect(after).not.toContain('b/second');
    expect(harness.state.fallback).toBeUndefined();
  });

  it('follows the chain by the cause of each failure', async () => {
    const { model, harness } = createHarness(
      {
        'a/first': always(fails('content_policy_violation')),
        'c/third': always(fails('timeout')),
        'd/fourth': new ScriptedModel([says('Done.')]),
      },
      { fallbacks: ['b/second', { model: 'c/third', on: ['content_policy_violation'] }, 'd/fourth'] },
    );
    await harness.runOn();

    expect(model.asked).toEqual(['a/first', 'c/third', 'd/fourth']);
    expect(fallbackFacts(harness).map(({ to, error }) => [to, error.code])).toEqual([
      ['c/third', 'content_policy_violation'],
      ['d/fourth', 'timeout'],
    ]);
  });

  it.each([
    ['every model fails', { fallbacks: ['b/second'] }, 'service_unavailable', 'service_unavailable'],
    ['no model stands in for the cause', { fallbacks: ['b/second'] }, 'invalid_request', 'invalid_request'],
    ['it has no other', {}, 'service_unavailable', 'service_unavailable'],
  ] as const)('fails where %s', async (_, settings, code, reported) => {
    const other = always(fails('service_unavailable'));
    const { harness } = createHarness(
      { 'a/first': always(fails(code)), 'b/second': other },
      { fallbacks: [...('fallbacks' in settings ? settings.fallbacks : [])] },
    );
    await harness.runOn();

    expect(ending(harness)).toMatchObject({ type: 'run.failed', data: { error: { code: reported } } });
  });

  it('falls back before the third attempt at a reply that breaks off', async () => {
    const { model, harness } = createHarness(
      { 'a/first': always(breaksAfter('Well,')), 'b/second': new ScriptedModel([says('Done.')]) },
      { fallbacks: ['b/second'] },
    );
    await harness.runOn();

    expect(model.asked).toEqual(['a/first', 'a/first', 'b/second']);
    expect(ending(harness)?.type).toBe('run.completed');
  });

  it('sends no model the thoughts of another', async () => {
    const thinks: Turn = [
      { type: 'reasoning', text: 'Hm.' },
      { type: 'reasoning_end', opaque: { maker: 'a/first' } },
      ...calls(read),
    ];
    const { model, harness } = createHarness(
      {
        'a/first': {
          stream: (request, signal) =>
            (request.messages.length > 1 ? always(fails('timeout')) : new ScriptedModel([thinks])).stream(
              request,
              signal,
            ),
        },
        'b/second': new ScriptedModel([[], calls(read), says('Done.')]),
      },
      { fallbacks: ['b/second'] },
    );
    await harness.runOn();

    const reasoningSentTo = (name: string) =>
      model.requests
        .filter((request) => request.model === name)
        .flatMap(({ messages }) => messages.flatMap((message) => (message.role === 'assistant' ? message.content : [])))
        .filter(({ type }) => type === 'reasoning');
    expect(reasoningSentTo('a/first')).toHaveLength(1);
    expect(reasoningSentTo('b/second')).toEqual([]);
  });

  it('tells the provider that a long wait is not worth it, unless no other model is left', async () => {
    const { model, harness } = createHarness(
      { 'a/first': always(fails('timeout')), 'b/second': new ScriptedModel([says('Done.')]) },
      { fallbacks: ['b/second'] },
    );
    await harness.runOn();

    expect(model.requests.map(({ hasFallback }) => hasFallback)).toEqual([true, undefined]);
  });
});

describe('a worker that is killed while its run falls back', () => {
  const script = [calls(read), calls(read, { ...read, arguments: { file_path: 'b.txt' } }), says('Done.')];
  const build = () => {
    const tools = new LedgeredTools();
    const model = new ModelsByName({ 'a/first': always(fails('timeout')), 'b/second': new ScriptedModel(script) });
    const settings: SettingsRequest = { model: 'a/first', fallbacks: ['b/second'] };
    return { tools, harness: new RunHarness({ model, tools, settings }) };
  };

  it.each(['before', 'after'] as const)('ends the same %s every single write (I2, I4, I5)', async (position) => {
    let steps = 0;
    await build().harness.activate((_, at) => {
      if (at === 'after') steps++;
    });
    expect(steps).toBeGreaterThan(15);

    for (let step = 0; step < steps; step++) {
      const { harness, tools } = build();
      await harness.crashAt({ step, position });
      await harness.runOn();

      expect(harness.log.filter(isTerminalFact).map(({ type }) => type)).toEqual(['run.completed']);
      expect(fallbackFacts(harness).length).toBeGreaterThan(0);
      expect([...tools.effects.values()]).toEqual([1, 1, 1]);
    }
  });
});
