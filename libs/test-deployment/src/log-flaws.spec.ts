import { logFlaws } from './log-flaws';
import type { Fact } from './rondo-client';

const log = (...facts: [type: string, epoch: number, data?: Fact['data']][]): Fact[] =>
  facts.map(([type, epoch, data = {}], index) => ({
    id: `evt_${index + 1}`,
    seq: index + 1,
    type,
    iteration: 1,
    epoch,
    at: '2026-01-01T00:00:00.000Z',
    data,
  }));

const planned = (epoch = 1): [string, number, Fact['data']] => ['tool.planned', epoch, { tool_call: { id: 'call_1' } }];
const completed: [string, number, Fact['data']] = ['tool.completed', 1, { tool_call_id: 'call_1' }];

describe('logFlaws', () => {
  it('accepts a complete log (I2)', () => {
    expect(logFlaws(log(['run.created', 0], planned(), completed, ['run.completed', 2]))).toEqual([]);
  });

  it('accepts a call that is retried and then answered once (I5)', () => {
    const unknown: [string, number, Fact['data']] = ['tool.unknown', 1, { tool_call_id: 'call_1' }];

    expect(logFlaws(log(planned(), unknown, completed, ['run.completed', 1]))).toEqual([]);
    expect(logFlaws(log(planned(), unknown, ['run.completed', 1]))).toEqual(['call_1 has no answer']);
  });

  it('reports the first gap only', () => {
    const [first, , ...rest] = log(['run.created', 0], ['run.started', 1], ['x', 1], ['run.completed', 1]);

    expect(logFlaws([first, ...rest].filter((fact) => fact !== undefined))).toEqual(['position 2 holds seq 3']);
  });

  it.each([
    [
      'an older holder wrote (I3)',
      [
        ['a', 2],
        ['b', 1],
        ['run.failed', 2],
      ],
      'seq 2 was written by epoch 1, after epoch 2',
    ],
    [
      'a call was answered twice (I5)',
      [planned(), completed, completed, ['run.completed', 1]],
      'call_1 was answered twice',
    ],
    ['an answer has no call (I6)', [completed, ['run.completed', 1]], 'call_1 was never planned'],
    ['the run is not over', [['run.created', 0]], '0 terminal facts'],
    [
      'it ended twice (I2)',
      [
        ['run.stopped', 1],
        ['run.completed', 1],
      ],
      '2 terminal facts',
    ],
    [
      'something follows the end (I2)',
      [
        ['run.completed', 1],
        ['x', 1],
      ],
      'facts after the end',
    ],
  ] as [string, Parameters<typeof log>, string][])('reports that %s', (_, facts, flaw) => {
    expect(logFlaws(log(...facts))).toEqual([flaw]);
  });
});
