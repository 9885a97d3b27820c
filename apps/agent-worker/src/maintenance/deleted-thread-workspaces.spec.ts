import { type ThreadId, threadId } from '@rondo/contract';
import { WorkspaceRemoval } from './deleted-thread-workspaces';

const [near, away] = [threadId.parse('thr_near'), threadId.parse('thr_away')];

describe('WorkspaceRemoval', () => {
  it('forgets what its executor has deleted, and keeps what one that is away has not', async () => {
    const forgotten: ThreadId[] = [];
    const sandboxes = {
      claimDeleted: () =>
        Promise.resolve([
          { threadId: near, executorId: 'here' },
          { threadId: away, executorId: 'gone' },
        ]),
      forget: (threads: readonly ThreadId[]) => Promise.resolve(void forgotten.push(...threads)),
    };

    const isHere = (executorId: string) => Promise.resolve(executorId === 'here');
    await new WorkspaceRemoval(sandboxes, isHere, (executorId) => executorId).remove();

    expect(forgotten).toEqual([near]);
  });

  it('has another executor delete the copy of one that is lost', async () => {
    const forgotten: ThreadId[] = [];
    const sandboxes = {
      claimDeleted: () => Promise.resolve([{ threadId: away, executorId: 'lost' }]),
      forget: (threads: readonly ThreadId[]) => Promise.resolve(void forgotten.push(...threads)),
    };
    const isHere = (executorId: string) => Promise.resolve(executorId === 'here');

    await new WorkspaceRemoval(sandboxes, isHere, () => 'here').remove();

    expect(forgotten).toEqual([away]);
  });
});
