import type { Approval } from '@rondo/client';
import type { Fact } from '@rondo/test-deployment';
import { type Verdict, listFlaws } from './approval-load';

const approval = { id: 'apr_1', run_id: 'run_1', tool_call_id: 'call_1' } as Pick<
  Approval,
  'id' | 'run_id' | 'tool_call_id'
>; // branded ids

const fact = (type: string, data: object): Fact => ({
  ...{ id: 'evt_1', seq: 1, type, iteration: 1, epoch: 1, at: '2026-11-01T00:00:00.000Z', data },
});
const decided = (outcome: Verdict) => fact('approval.decided', { approval_id: 'apr_1', outcome });
const completed = fact('tool.completed', { tool_call_id: 'call_1' });
const failed = fact('tool.failed', { tool_call_id: 'call_1' });

describe('a call that two have decided about', () => {
  it.each([
    ['approved and done', [decided('approve'), completed], ['approve'], 1, []],
    ['approved, without an answer that reached the decider', [decided('approve'), completed], [], 1, []],
    ['denied', [decided('deny'), failed], ['deny'], undefined, []],
    ['never decided', [], [], undefined, ['lost']],
    ['approved and completed without an effect', [decided('approve'), completed], ['approve'], undefined, ['lost']],
    ['approved and done twice', [decided('approve'), completed], ['approve'], 2, ['doubled']],
    ['decided twice', [decided('approve'), decided('approve')], ['approve'], 1, ['doubled']],
    ['said to be in force twice', [decided('approve'), completed], ['approve', 'approve'], 1, ['doubled']],
    ['denied and done', [decided('deny'), failed], ['deny'], 1, ['denied']],
    [
      'denied, though the decider was told that it is approved',
      [decided('deny')],
      ['approve'],
      undefined,
      ['contradicted'],
    ],
  ] as const)('%s', (_name, facts, inForce, applied, flaws) => {
    expect(listFlaws({ approval, tag: 'a', inForce }, { facts, applied })).toEqual(flaws);
  });
});
