import { type SettingsRequest, runId } from '@rondo/contract';
import type { CallSize } from '../models/model-price';
import { RunHarness, ScriptedModel, type Turn, calls, says } from '../testing';

const looks = calls({ name: 'list_files', arguments: { path: '.' } });
const cutOff = (text: string): Turn =>
  says(text).map((chunk) =>
    chunk.type === 'end' && chunk.how === 'finished' ? { ...chunk, finishReason: 'length' } : chunk,
  );

const costing = (cost_usd: number, turn: Turn): Turn =>
  turn.map((chunk) =>
    chunk.type === 'end' && chunk.usage ? { ...chunk, usage: { ...chunk.usage, cost_usd, output_tokens: 50 } } : chunk,
  );

/** The run of an account whose balance covers so many calls, and what each reservation was made with. */
async function runWithFundsFor(count: number, turns: readonly Turn[], settings: SettingsRequest = {}) {
  const sizes: CallSize[] = [];
  const model = new ScriptedModel(turns);
  const harness: RunHarness = new RunHarness({ model, settings, extra: { reserve } });
  async function reserve(_: string, readSize: () => Promise<CallSize>) {
    sizes.push(await readSize());
    return sizes.length <= count;
  }
  await harness.runOn();
  return { harness, model, sizes };
}

const usages = ({ log }: RunHarness) => log.filter(({ type }) => type === 'usage.recorded');
const last = ({ log }: RunHarness) => log.at(-1);

describe('a run of a limited account', () => {
  it('reserves each model call before it is made, with the size that it can have', async () => {
    const { model, sizes, harness } = await runWithFundsFor(9, [looks, says('Seen.')], { llm: { max_tokens: 500 } });

    expect(model.requests).toHaveLength(2);
    expect(sizes).toEqual([
      { model: 'demo/coder', inputTokens: expect.any(Number), maxOutputTokens: 500, unsettledUsd: 0 },
      { model: 'demo/coder', inputTokens: expect.any(Number), maxOutputTokens: 500, unsettledUsd: 0 },
    ]);
    expect(sizes[1]?.inputTokens).toBeGreaterThan(sizes[0]?.inputTokens ?? 0);
    expect(last(harness)).toMatchObject({ data: { finish_reason: 'stop' } });
  });

  it('reserves a call with the messages that it reads', async () => {
    const sizes: CallSize[] = [];
    const model = new ScriptedModel([looks, says('Seen.')]);
    const reserve = async (_: string, readSize: () => Promise<CallSize>) => sizes.push(await readSize()) > 0;
    const harness = new RunHarness({ model, extra: { reserve } });
    const words = 'word '.repeat(5_000);
    const message = { queuedRun: runId.parse('run_told'), content: [{ type: 'text' as const, text: words }] };

    await harness.activate((step, at) => {
      if (at === 'before' && 'facts' in step && step.facts[0]?.type === 'tool.started')
        harness.store.steer(harness.id, message);
    });

    const added = (sizes[1]?.inputTokens ?? 0) - (sizes[0]?.inputTokens ?? 0);
    expect(added).toBeGreaterThan(4_000);
  });

  it('ends before the call that the balance does not cover', async () => {
    const { harness, model } = await runWithFundsFor(1, [looks, says('Seen.')]);

    expect(model.requests).toHaveLength(1);
    expect(last(harness)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'budget_exceeded' } });
  });

  it('reserves the continuation of a reply with what the reply has cost, which is settled after it', async () => {
    const { model, sizes, harness } = await runWithFundsFor(9, [costing(0.25, cutOff('Once upon')), says(' a time.')]);

    expect(model.requests).toHaveLength(2);
    expect(sizes.map(({ unsettledUsd }) => unsettledUsd)).toEqual([0, 0.25]);
    expect(sizes[1]?.inputTokens).toBeGreaterThan(sizes[0]?.inputTokens ?? 0);
    expect(usages(harness)).toMatchObject([
      { data: { finish_reason: 'continued' } },
      { data: { finish_reason: 'stop' } },
    ]);
  });

  it('keeps a reply whose continuation the balance does not cover, and records its usage once', async () => {
    const { harness, model } = await runWithFundsFor(1, [cutOff('Once upon'), says(' a time.')]);

    expect(model.requests).toHaveLength(1);
    expect(usages(harness)).toHaveLength(1);
    expect(JSON.stringify(harness.state.conversation)).toContain('Once upon');
    expect(last(harness)).toMatchObject({ type: 'run.completed', data: { finish_reason: 'budget_exceeded' } });
  });
});
