import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from '@rondo/contract';
import type { Hosting } from '@rondo/messaging';
import { newUlid } from '@rondo/platform';
import type { SandboxCopies, SandboxRecord } from '../sandboxes';
import type { DirectoryAge } from './own-directory';
import { WorkspaceHosting } from './workspace-ownership';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

const thread = threadId.parse('thr_1');
const here: Hosting = { deleted: [], moved: [] };
const moved: Hosting = { deleted: [], moved: [thread] };
const log = { info: () => undefined, warn: () => undefined };
const wait = { signal: new AbortController().signal, timeoutMs: 60_000 };

/** An executor with files of the thread, which is answered by `answer`. */
function anExecutor({
  hasFiles = true,
  record,
  ...age
}: {
  hasFiles?: boolean;
  record?: Partial<SandboxRecord>;
  madeAt?: string | null | undefined;
} = {}) {
  const restored: string[][] = [];
  const left: string[] = [];
  const questions: (readonly string[])[] = [];
  const befores: (string | undefined)[] = [];
  const directory: Writable<DirectoryAge> = {
    madeAt: 'madeAt' in age ? age.madeAt : null,
    learnTime: async (now) => void (directory.madeAt = now),
  };
  const state = { losses: 0, answer: here as Hosting | undefined };
  const copies = {
    hasFiles: () => hasFiles && left.length === 0,
    leave: async (id: string) => void left.push(id),
    restore: async (id: string, from: string) => void restored.push([id, from]),
  } as unknown as SandboxCopies; // what is asked of them here
  const hosting = new WorkspaceHosting({
    ...{ executorId: 'exe_1', directory },
    sandboxes: { copies, records: { read: () => Promise.resolve(record) } as never },
    sites: { remove: () => Promise.resolve() },
    ask: (threads, before) => {
      questions.push(threads);
      befores.push(before);
      return Promise.resolve(state.answer);
    },
    losses: () => state.losses,
    log,
  });
  return { hosting, left, restored, questions, befores, state };
}

describe('WorkspaceHosting', () => {
  afterEach(() => jest.restoreAllMocks());

  it('asks once before the first use of a workspace, and only after it has announced itself', async () => {
    const { hosting, questions } = anExecutor();
    const first = hosting.of(thread, wait);
    await sleep(600);
    expect(questions).toEqual([]);

    hosting.noteAnnouncement();

    expect(await first).toBe('here');
    expect(await hosting.of(thread, wait)).toBe('here');
    expect(questions).toEqual([[thread]]);
  });

  it('asks nothing of threads without anything here', async () => {
    const { hosting, questions } = anExecutor({ hasFiles: false });

    expect(await hosting.of(thread, wait)).toBe('here');
    expect(questions).toEqual([]);
  });

  describe('whose disk was replaced', () => {
    const madeAt = new Date().toISOString();
    const lost: Hosting = { ...here, hostedBefore: [thread] };
    const askedAbout = async (record: Partial<SandboxRecord> | undefined, answer: Hosting) => {
      const executor = anExecutor({ hasFiles: false, madeAt, ...(record && { record }) });
      executor.state.answer = answer;
      executor.hosting.noteAnnouncement();
      expect(await executor.hosting.of(thread, wait)).toBe('here');
      return executor;
    };

    it.each([
      ['it has hosted since before', undefined],
      ['it was killed while it restored it', { filesAt: madeAt }],
    ])('restores a workspace from its own copy where %s', async (_, record) => {
      expect((await askedAbout(record, lost)).restored).toEqual([[thread, 'exe_1']]);
    });

    it('restores nothing that it has hosted only since then, or has used', async () => {
      expect((await askedAbout(undefined, { ...here, hostedBefore: [] })).restored).toEqual([]);
      const used = await askedAbout({ usedAt: madeAt }, lost);
      expect([used.restored, used.questions]).toEqual([[], []]);
    });

    it('asks nothing of a thread that is newer, however far the clocks of gateways are from the database’s', async () => {
      const questionsAt = async (madeAt: string) => {
        const { hosting, questions } = anExecutor({ hasFiles: false, madeAt });
        hosting.noteAnnouncement();
        expect(await hosting.of(threadId.parse(`thr_${newUlid()}`), wait)).toBe('here');
        return questions.length;
      };

      expect(await questionsAt('2026-01-01T00:00:00.000Z')).toBe(0);
      expect(await questionsAt(new Date(Date.now() - 3_600_000).toISOString())).toBe(1);
    });

    it('asks what time it is before it asks what it has hosted since before then', async () => {
      const executor = anExecutor({ hasFiles: false, madeAt: undefined });
      executor.state.answer = { ...lost, at: '2031-01-01T00:00:00.000Z' };
      executor.hosting.noteAnnouncement();

      expect(await executor.hosting.of(thread, wait)).toBe('here');

      expect(executor.questions).toEqual([[], [thread]]);
      expect(executor.befores).toEqual([undefined, '2031-01-01T00:00:00.000Z']);
      expect(executor.restored).toEqual([[thread, 'exe_1']]);
    });
  });

  it('waits as long as no worker knows what was moved, and gives up at the time limit', async () => {
    const { hosting, questions, state } = anExecutor();
    hosting.noteAnnouncement();
    for (const answer of [undefined, { deleted: [] }]) {
      state.answer = answer;
      expect(await hosting.of(thread, { ...wait, timeoutMs: 600 })).toBe('unknown');
    }
    expect(questions.length).toBeGreaterThan(2);

    await expect(hosting.require(thread, { ...wait, timeoutMs: 0 })).rejects.toThrow(
      'Not executed: this executor was away',
    );
  });

  it('stops waiting when the call is stopped', async () => {
    const { hosting, state } = anExecutor();
    state.answer = undefined;
    const stopped = new AbortController();
    const waiting = hosting.of(thread, { ...wait, signal: stopped.signal });

    stopped.abort(new Error('stopped'));

    await expect(waiting).rejects.toThrow('stopped');
  });

  it('deletes what was moved and refuses its use, also when it is asked for again', async () => {
    const { hosting, left, state } = anExecutor();
    state.answer = moved;
    hosting.noteAnnouncement();

    await expect(hosting.require(thread, wait)).rejects.toThrow('is on another executor now. Repeat the call.');
    expect(left).toEqual([thread]);
  });

  it('keeps what it has just restored, although a worker has not made the move final', async () => {
    const readLeave = async (restoredAt: number) => {
      const { hosting, left, state } = anExecutor({ record: { restoredAt: new Date(restoredAt).toISOString() } });
      state.answer = moved;
      hosting.noteAnnouncement();
      await hosting.leave(thread);
      return left;
    };

    expect(await readLeave(Date.now())).toEqual([]);
    expect(await readLeave(Date.now() - 3_600_001)).toEqual([thread]);
  });

  it.each<[string, (executor: ReturnType<typeof anExecutor>) => void]>([
    ['its connection was lost', ({ state }) => (state.losses += 1)],
    [
      'it stood still',
      () => {
        const realNow = Date.now;
        jest.spyOn(Date, 'now').mockImplementation(() => realNow() + 11_000);
      },
    ],
  ])('asks again after an absence: %s', async (_, absence) => {
    const executor = anExecutor();
    const { hosting, questions, state } = executor;
    hosting.noteAnnouncement();
    await hosting.of(thread, wait);
    const before = hosting.absences;

    absence(executor);
    state.answer = moved;
    const use = hosting.of(thread, wait);
    await sleep(600);
    expect(questions).toHaveLength(1); // it has not announced itself yet

    hosting.noteAnnouncement();
    expect(await use).toBe('moved');
    expect(hosting.absences).not.toBe(before);
  });

  it('does not take an answer for one that came after an absence', async () => {
    const executor = anExecutor();
    const { hosting, state } = executor;
    hosting.noteAnnouncement();
    const asking = hosting.ask([thread]);
    state.losses += 1;

    expect(await asking).toBeUndefined();
  });
});
