import type { Fact } from '@rondo/client';
import { RunHistory, RunRecord } from './run-record';

const at = '2026-01-01T00:00:00.000Z';
const fact = (seq: number, type: string, data: unknown, iteration = 1) =>
  ({ id: `evt_${seq}`, v: 1, run_id: 'run_1', thread_id: 'thr_1', epoch: 1, at, seq, type, data, iteration }) as Fact;
const used = { model: 'm', input_tokens: 10, cached_tokens: 0, output_tokens: 2, cost_usd: 0.5 };
const plan = {
  kind: 'plan_updated',
  items: [{ text: 'Write it', done: true }, { text: 7 }, { text: 'Run it', done: false }],
};
const message = { id: 'msg_1', type: 'status', iteration: 1, content: [], metadata: plan };

const facts = [
  fact(1, 'run.created', { model: 'm', profile: 'suna' }, 0),
  fact(2, 'iteration.started', { iteration: 1, message_id: 'msg_0' }),
  fact(3, 'usage.recorded', used),
  fact(4, 'usage.recorded', { ...used, cost_usd: null }),
  fact(5, 'message.created', { message }),
  fact(6, 'run.stop_requested', { reason: null, requested_at: at }),
];

describe('the record of a run', () => {
  it('copies no map with each fact, which would take the square of the length of the run', () => {
    const record = new RunRecord();
    facts.slice(0, 3).forEach((one) => record.apply(one));
    const { iterations, sentAt } = record.details;
    facts.slice(3).forEach((one) => record.apply(one));

    expect(record.details.iterations).toBe(iterations);
    expect(record.details.sentAt).toBe(sentAt);
    expect(new RunRecord().details.iterations.size).toBe(0);
  });

  it('sums up what each iteration used; an unknown cost stays unknown', () => {
    const record = new RunRecord();
    for (const one of facts.slice(0, 3)) record.apply(one);
    expect(record.details.iterations.get(1)).toMatchObject({ inputTokens: 10, outputTokens: 2, costUsd: 0.5 });
    record.apply(facts[3] as Fact);
    expect(record.details.iterations.get(1)).toMatchObject({ inputTokens: 20, costUsd: null });
    expect(record.details.contextTokens).toBe(12);
  });

  it('has the plan, without items that are none', () => {
    const record = new RunRecord();
    for (const one of [...facts, ...facts]) record.apply(one);
    expect(record.details.plan).toEqual([
      { text: 'Write it', isDone: true },
      { text: 'Run it', isDone: false },
    ]);
    expect(record.details).toMatchObject({ stopRequest: { at, reason: null }, lastAt: at });
  });
});

it('a history shows each moment, in whatever order it is asked', () => {
  const history = new RunHistory();
  const seen = [6, 2, 4, 1, 6].map((seq) => {
    const { view, details } = history.at(seq, facts);
    return [view.lastSeq, details.plan.length, details.iterations.get(1)?.inputTokens];
  });
  expect(seen).toEqual([
    [6, 2, 20],
    [2, 0, 0],
    [4, 0, 20],
    [1, 0, undefined],
    [6, 2, 20],
  ]);
});
