import {
  type Message,
  type NewFact,
  type SettingsRequest,
  compactionId,
  messageId,
  runId,
  threadId,
} from '@rondo/contract';
import { budgetOfModel } from '../models/model-budgets';
import type { AgentRun } from '../loop-context';
import type { ModelChunk } from '../models/model';
import { effectiveSettings } from '../profiles/effective-settings';
import { evolve, replay } from '../run/run-state';
import { CountingIds, EvenTokenCounter, says, ScriptedModel, TickingClock } from '../testing';
import { AnsweringModel, saysAtOnce, textOfRequest, tokensOfRequest } from '../testing/answering-model';
import { toHistory } from '../testing/histories';
import { tools } from '../tools/catalog';
import { toToolSet } from '../tools/tool-set';
import { summarize, summaryIn } from './summarize';

const reads = (output: string) =>
  ({ kind: 'reply', text: 'Reading.', calls: 1, parts: false, thinks: false, output }) as const;

function runWith(conversation: readonly Message[], settings: SettingsRequest = {}): AgentRun {
  const effective = effectiveSettings(settings, { model: 'demo/coder' });
  if ('problems' in effective) throw new Error('the settings are valid');
  const started: NewFact = {
    type: 'context.compaction_started',
    iteration: 9,
    data: {
      compaction_id: compactionId.parse('cmp_1'),
      reason: 'threshold',
      covers: {
        from_message_id: messageId.parse('msg_0'),
        to_message_id: conversation.at(-2)?.id ?? messageId.parse('msg_0'),
      },
      tokens_before: 50_000,
    },
  };
  const state = evolve(replay([], conversation), started);
  return {
    id: runId.parse('run_1'),
    threadId: threadId.parse('thr_1'),
    settings: effective.settings,
    tools: toToolSet(effective.settings, tools),
    createdAt: '2026-01-01T00:00:00.000Z',
    state,
  };
}

const ports = (model: AnsweringModel) => ({
  model,
  tokens: new EvenTokenCounter(),
  resolveBudget: budgetOfModel,
  ids: new CountingIds(),
  clock: new TickingClock(),
});
const noAbort = new AbortController().signal;
const listTypes = (facts: readonly NewFact[]) => facts.map(({ type }) => type);

const conversation = toHistory([
  { kind: 'user', text: 'Find the needle.' },
  ...Array.from({ length: 20 }, (_, at) => reads(`Page ${at}. ${'hay '.repeat(2_000)}NEEDLE-${at}`)),
]);

describe('summarize', () => {
  it('asks for no further summary once the budget of the run is spent', async () => {
    const model = new ScriptedModel([saysAtOnce('')]);
    const asking = { ...ports(new AnsweringModel(() => [])), model };

    const facts = await summarize(runWith(conversation, { budget: { tokens: 1 } }), asking, noAbort);

    expect(model.requests).toHaveLength(1);
    expect(facts.at(-1)).toMatchObject({ data: { error: { code: 'budget_exceeded' } } });
  });

  it('writes a summary in its frame, with its coverage and its cost', async () => {
    const model = new AnsweringModel(() => saysAtOnce('All pages were read.'));

    const facts = await summarize(runWith(conversation), ports(model), noAbort);

    expect(listTypes(facts)).toEqual(['usage.recorded', 'message.created', 'context.compacted']);
    const [usage, created, compacted] = facts;
    expect(usage).toMatchObject({ data: { model: 'demo/coder', finish_reason: 'summary' } });
    expect(created).toMatchObject({
      data: {
        message: { type: 'summary', metadata: { parent_summary_id: null, token_count: expect.any(Number) as number } },
      },
    });
    expect(JSON.stringify(created)).toContain(
      '======== CONVERSATION HISTORY SUMMARY ========\\n\\nAll pages were read.\\n\\n=',
    );
    expect(compacted).toMatchObject({ data: { method: 'summary', covers: { from_message_id: 'msg_0' } } });
  });

  it('labels a summary of head_tail, and removes the label when it reads the summary', async () => {
    const model = new AnsweringModel(() => saysAtOnce('All pages were read.'));
    const run = runWith(conversation, { context: { strategy: 'head_tail' } });

    const facts = await summarize(run, ports(model), noAbort);

    const message = facts.reduce(evolve, run.state).conversation.at(-1);
    expect(message).toMatchObject({
      type: 'summary',
      content: [{ text: 'Conversation Summary: All pages were read.' }],
    });
    expect(message && summaryIn(message)).toBe('All pages were read.');
  });

  it('uses the run’s summary model, at temperature 0', async () => {
    const model = new AnsweringModel(() => saysAtOnce('Short.'));

    await summarize(runWith(conversation, { context: { summary_model: 'demo/summary' } }), ports(model), noAbort);

    expect(model.requests[0]).toMatchObject({ model: 'demo/summary', tools: [], settings: { temperature: 0 } });
    expect(textOfRequest(model.requests[0] as never)).toContain('PLEASE PROVIDE THE SUMMARY NOW.');
  });

  it('summarizes in parts what exceeds one request, with every message in one part', async () => {
    const inputBudget = 14_000;
    const model = new AnsweringModel((request) => {
      const needles = textOfRequest(request).match(/NEEDLE-\d+/g) ?? [];
      return saysAtOnce(`Found ${[...new Set(needles)].join(' ')}`);
    });

    const facts = await summarize(
      runWith(conversation, { context: { input_budget_tokens: inputBudget, summary_target_tokens: 1_000 } }),
      ports(model),
      noAbort,
    );

    expect(model.requests.length).toBeGreaterThan(2);
    for (const request of model.requests) expect(tokensOfRequest(request)).toBeLessThan(inputBudget);
    const summary = JSON.stringify(facts.find(({ type }) => type === 'message.created'));
    for (let page = 0; page < 19; page++) expect(summary).toContain(`NEEDLE-${page}`);
  });

  it('keeps every request within the budget of a smaller summary model (I13)', async () => {
    const small = 6_000;
    const model = new AnsweringModel(() => saysAtOnce('More pages were read. '.repeat(200)));
    const resolveBudget = (name: string) => (name === 'local/small' ? small : budgetOfModel(name));
    const run = runWith(conversation, { context: { summary_model: 'local/small' } });

    const facts = await summarize(run, { ...ports(model), resolveBudget }, noAbort);

    expect(listTypes(facts)).toContain('context.compacted');
    for (const request of model.requests) {
      expect(tokensOfRequest(request)).toBeLessThan(small);
      expect(request.settings.max_tokens).toBeLessThanOrEqual(small / 4);
    }
  });

  it('retries once, then fails without changing the history, and records the usage', async () => {
    const model = new AnsweringModel(() => says(''));

    const facts = await summarize(runWith(conversation), ports(model), noAbort);

    expect(listTypes(facts)).toEqual(['usage.recorded', 'usage.recorded', 'context.compaction_failed']);
    expect(facts.at(-1)).toMatchObject({ data: { compaction_id: 'cmp_1', error: { code: 'summary_empty' } } });
  });

  it.each([
    [
      'summary_cut_off',
      [
        { type: 'text', text: 'Once upon' },
        { type: 'end', how: 'finished', finishReason: 'length' },
      ],
    ],
    ['summary_not_smaller', saysAtOnce('word '.repeat(100_000))],
    ['authentication', [{ type: 'end', how: 'failed', error: { code: 'authentication', message: 'No.' } }]],
  ] satisfies [string, readonly ModelChunk[]][])('rejects a bad summary: %s', async (code, turn) => {
    const facts = await summarize(runWith(conversation), ports(new AnsweringModel(() => turn)), noAbort);

    expect(facts.at(-1)).toMatchObject({ type: 'context.compaction_failed', data: { error: { code } } });
  });

  describe('whose request is refused', () => {
    const window = 40_000;
    const summarizeWithin = async (input_budget_tokens: number, code: string) => {
      const model = new AnsweringModel((request) =>
        tokensOfRequest(request) > window
          ? [{ type: 'end', how: 'failed', error: { code, message: 'No.' } }]
          : saysAtOnce('A few pages were read.'),
      );
      const facts = await summarize(runWith(conversation, { context: { input_budget_tokens } }), ports(model), noAbort);
      return { facts, refused: model.requests.filter((request) => tokensOfRequest(request) > window) };
    };

    it.each([
      ['as too long', 'context_window_exceeded', 100_000],
      ['for an unclear reason while it nearly fills the budget', 'invalid_request', 85_000],
    ])('%s is asked for again with shorter requests', async (_, code, budget) => {
      const { facts, refused } = await summarizeWithin(budget, code);

      expect(listTypes(facts)).toContain('context.compacted');
      expect(refused).toHaveLength(1);
    });

    it('for another reason fails with it', async () => {
      const { facts } = await summarizeWithin(120_000, 'invalid_request');

      expect(facts.at(-1)).toMatchObject({ data: { error: { code: 'invalid_request', message: 'No.' } } });
    });
  });

  it('refuses a page of thoughts, twice, and leaves the history as it is', async () => {
    const model = new AnsweringModel(() => saysAtOnce('<think>Let me see what was said so far.</think>'));

    const facts = await summarize(runWith(conversation), ports(model), noAbort);

    expect(model.requests).toHaveLength(2);
    expect(facts.at(-1)).toMatchObject({ data: { error: { code: 'summary_empty' } } });
  });

  it('changes nothing of the run but its usage', async () => {
    const run = runWith(conversation);
    const facts = await summarize(run, ports(new AnsweringModel(() => says(''))), noAbort);
    const after = facts.reduce(evolve, run.state);

    expect(after).toMatchObject({ phase: run.state.phase, lostReplies: 0, compaction: undefined });
    expect(after.conversation).toBe(run.state.conversation);
  });

  it('rejects with the reason of its abort signal', async () => {
    const stop = new AbortController();
    const model = new AnsweringModel(() => {
      stop.abort(new Error('shutdown'));
      return [{ type: 'end', how: 'aborted' }];
    });

    await expect(summarize(runWith(conversation), ports(model), stop.signal)).rejects.toThrow('shutdown');
  });
});

it('sends no reasoning to the summarizer', async () => {
  const thinks = { kind: 'reply', text: 'Yes.', calls: 0, parts: false, thinks: true, output: '' } as const;
  const model = new AnsweringModel(() => saysAtOnce('x'));
  const history = toHistory([{ kind: 'user', text: 'Go. '.repeat(200) }, thinks, thinks, thinks]);

  await summarize(runWith(history), ports(model), noAbort);

  expect(JSON.stringify(model.requests)).not.toContain('Hm.');
});
