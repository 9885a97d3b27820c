import { threadId } from '@rondo/contract';
import { TransientError } from '@rondo/domain';
import type { AdoptionState } from '@rondo/messaging';
import type { WorkspaceMove } from '@rondo/persistence';
import { WorkspaceMover } from './workspace-mover';

const thread = threadId.parse('thr_1');
const lostAfterMs = 60_000;

/** One row of Postgres, with the rules of its statements, which have a spec of their own. */
class Row {
  executorId = 'exe_lost';
  movingTo: string | null = null;
  hasOpenCall = false;

  toPlace = () => Promise.resolve({ executorId: this.executorId, movingTo: this.movingTo });
  begin = ({ from, to }: WorkspaceMove) => {
    const isAllowed = this.executorId === from && !this.hasOpenCall;
    if (isAllowed) this.movingTo = to;
    return Promise.resolve(isAllowed);
  };
  complete = ({ from, to }: WorkspaceMove) => {
    const isAllowed = this.executorId === from && this.movingTo === to && !this.hasOpenCall;
    if (isAllowed) [this.executorId, this.movingTo] = [to, null];
    return Promise.resolve(isAllowed);
  };
  cancel = () => Promise.resolve(void (this.movingTo = null));
}

let row: Row;
let silence: Record<string, number>;
let adopting: (string | undefined)[];
let answers: (AdoptionState | undefined)[];
let asked: string[];
let onAdoption: () => void;

beforeEach(() => {
  [row, silence, adopting] = [new Row(), { exe_lost: lostAfterMs }, ['exe_next']];
  [answers, asked, onAdoption] = [['adopted'], [], () => undefined];
});

const mover = (after = lostAfterMs) =>
  new WorkspaceMover({
    moves: row,
    executors: { silentMs: (id) => silence[id] ?? 0, drawAdopting: () => adopting.shift() },
    adopt: (executorId, adoption) => {
      asked.push(executorId);
      expect(adoption).toEqual({ threadId: thread, from: 'exe_lost' });
      onAdoption();
      return Promise.resolve(answers.shift());
    },
    lostAfterMs: after,
    log: { warn: () => undefined },
  });

describe('the workspace of an executor that is silent', () => {
  it('moves once another executor has restored it', async () => {
    expect(await mover().readHost(thread)).toBe('exe_next');

    expect(row).toMatchObject({ executorId: 'exe_next', movingTo: null });
    expect(asked).toEqual(['exe_next']);
  });

  it.each([
    ['for a shorter time than the setting', lostAfterMs + 1],
    ['where workspaces never move', 0],
  ])('stays %s', async (_, after) => {
    expect(await mover(after).readHost(thread)).toBe('exe_lost');

    expect(asked).toEqual([]);
  });

  it('stays where no executor can restore it, and calls wait', async () => {
    adopting = [];

    await expect(mover().readHost(thread)).rejects.toThrow(TransientError);
  });

  it('does not move while calls that it may have got are open (I5)', async () => {
    row.hasOpenCall = true;

    await expect(mover().readHost(thread)).rejects.toThrow(TransientError);

    expect(asked).toEqual([]);
  });

  it('is asked for again at the same executor while that one restores it, and at another one when it is lost, too', async () => {
    [answers, adopting] = [
      ['restoring', 'restoring', 'adopted'],
      ['exe_next', 'exe_third'],
    ];

    await expect(mover().readHost(thread)).rejects.toThrow('exe_next is restoring');
    await expect(mover().readHost(thread)).rejects.toThrow('exe_next is restoring');
    silence['exe_next'] = 10_000;
    expect(await mover().readHost(thread)).toBe('exe_third');

    expect(asked).toEqual(['exe_next', 'exe_next', 'exe_third']);
  });

  it('is asked for elsewhere where it could not be restored', async () => {
    [answers, adopting] = [
      ['failed', 'adopted'],
      ['exe_full', 'exe_next'],
    ];

    await expect(mover().readHost(thread)).rejects.toThrow('exe_full could not restore');
    expect(await mover().readHost(thread)).toBe('exe_next');
  });

  it('stays when the executor comes back before the last step (I5)', async () => {
    onAdoption = () => (silence['exe_lost'] = 0);

    expect(await mover().readHost(thread)).toBe('exe_lost');

    expect(row).toMatchObject({ executorId: 'exe_lost', movingTo: null });
  });

  it('is where another worker has moved it', async () => {
    onAdoption = () => (row.executorId = 'exe_other');

    await expect(mover().readHost(thread)).rejects.toThrow(TransientError);
    expect(await mover().readHost(thread)).toBe('exe_other');
  });

  it('has another executor act for it', () => {
    adopting = ['exe_next', undefined];
    const moving = mover();

    expect(['exe_lost', 'exe_lost', 'exe_there'].map((id) => moving.standInFor(id))).toEqual([
      'exe_next',
      'exe_lost',
      'exe_there',
    ]);
  });
});
