import type { Model, ModelChunk, ModelRequest } from '@rondo/domain';
import { Registry } from 'prom-client';
import { ModelMetrics } from './model-metrics';

const usage = { input_tokens: 100, cached_tokens: 40, output_tokens: 7, cost_usd: 0.5, estimated: false };
const finished: ModelChunk = { type: 'end', how: 'finished', finishReason: 'stop', usage };
const error = { code: 'rate_limit', message: 'Slow down.' };

const replying = (...batches: ModelChunk[][]): Model => ({
  async *stream() {
    for (const batch of batches) yield await Promise.resolve(batch);
  },
});

function measured(model: Model) {
  const registry = new Registry();
  const metrics = new ModelMetrics(['openai', 'acme']);
  metrics.registerOn(registry);
  const measuredModel = metrics.measureModel(model);
  const call = (name: string) =>
    measuredModel.stream({ model: name } as ModelRequest, new AbortController().signal)[Symbol.asyncIterator]();
  const drain = async (name: string) => {
    const reply = call(name);
    while (!(await reply.next()).done);
  };
  return { call, drain, page: () => registry.metrics() };
}

describe('ModelMetrics', () => {
  it('begins the calls and errors of every configured provider at 0', async () => {
    const page = await measured(replying([finished])).page();

    expect(page).toContain('rondo_model_calls_total{provider="acme",outcome="failed"} 0');
    expect(page).toContain('rondo_model_errors_total{provider="openai",code="rate_limit"} 0');
  });

  it('counts what a call used, how long it took and what failed on the way', async () => {
    const retried: ModelChunk = { type: 'retried', attempt: 1, delayMs: 1, error };
    const { drain, page } = measured(replying([retried], [{ type: 'text', text: 'Hi' }], [finished]));

    await drain('openai/gpt-5');

    const text = await page();
    expect(text).toContain('rondo_model_calls_total{provider="openai",outcome="finished"} 1');
    expect(text).toContain('rondo_model_errors_total{provider="openai",code="rate_limit"} 1');
    expect(text).toContain('rondo_model_tokens_total{model="openai/gpt-5",kind="cached"} 40');
    expect(text).toContain('rondo_model_cost_usd_total{model="openai/gpt-5"} 0.5');
    expect(text).toContain('rondo_model_call_seconds_count{model="openai/gpt-5",outcome="finished"} 1');
    expect(text).toContain('rondo_model_call_seconds_count{model="openai/gpt-5",outcome="failed"} 0');
    expect(text).toContain('rondo_model_first_output_seconds_count{model="openai/gpt-5"} 1');
    expect(text).toContain('rondo_model_calls_running 0');
  });

  it('counts a call that its caller leaves as aborted', async () => {
    const { call, page } = measured(replying([{ type: 'text', text: 'Hi' }], [finished]));

    const reply = call('acme/a');
    await reply.next();
    expect(await page()).toContain('rondo_model_calls_running 1');
    await reply.return?.();

    const text = await page();
    expect(text).toContain('rondo_model_calls_total{provider="acme",outcome="aborted"} 1');
    expect(text).toContain('rondo_model_calls_running 0');
  });

  it('has one series for all models that no configured provider has, and survives impossible reports', async () => {
    const impossible = { ...usage, input_tokens: -5, output_tokens: Number.NaN, cost_usd: null };
    const { drain, page } = measured(replying([{ type: 'end', how: 'failed', error, usage: impossible }]));

    await drain('evil-1/x');
    await drain('evil-2/y');

    const text = await page();
    expect(text).not.toContain('evil');
    expect(text).toContain('rondo_model_calls_total{provider="other",outcome="failed"} 2');
    expect(text).toContain('rondo_model_tokens_total{model="other",kind="input"} 0');
    expect(text).toContain('rondo_model_calls_unpriced_total{model="other"} 2');
    expect(text).toContain('rondo_model_call_seconds_count{model="other",outcome="failed"} 2');
  });
});
