import { mkdir, mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deletionNotice } from '../deletion-notice';
import type { CopySettings } from '../host/workspaces/workspace-copies';
import type { SandboxCopies } from '../provider/sandbox-copies';
import { FolderSnapshots } from '../snapshots/folder-snapshots';
import { run } from './run-command';
import { type SandboxProviderFixture, newThreadId } from './sandbox-provider-fixture';
import { setClockAhead } from './set-clock';

/** What every provider promises whose sandboxes belong to one executor, about copies and executors that are lost. */
export function describeSandboxCopies(
  name: string,
  makeFixture: (copies: CopySettings) => Promise<SandboxProviderFixture>,
): void {
  describe(`copies of ${name} sandboxes`, () => {
    let folder: string;
    let one: SandboxProviderFixture;
    let other: SandboxProviderFixture;
    const open = (executorId: string) =>
      makeFixture({ store: new FolderSnapshots(folder), executorId, closeWithinMs: 60_000 });
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'copies-spec-'));
      [one, other] = await Promise.all([open('exe_1'), open('exe_2')]);
    });
    afterAll(async () => {
      await Promise.all([one.close(), other.close()]);
      await rm(folder, { recursive: true });
    });

    const createCopies = ({ provider }: SandboxProviderFixture): SandboxCopies => {
      if (!provider.copies) throw new Error('The provider makes no copies.');
      return provider.copies;
    };
    const inside = async ({ provider }: SandboxProviderFixture, thread: string, command: string) =>
      (await run(await provider.get(thread, { account: 'acc_1' }), command)).output;
    const stored = (thread: string) => readdir(join(folder, thread)).catch(() => []);
    const asleepWith = async (command: string): Promise<string> => {
      const thread = newThreadId();
      await inside(one, thread, command);
      await one.provider.putToSleep(thread);
      await createCopies(one).saveAll();
      return thread;
    };
    const findNotice = ({ provider }: SandboxProviderFixture, thread: string, call: string) =>
      deletionNotice(provider, thread, call);

    it('are made when a sandbox falls asleep, and restored by another executor with every file (I10)', async () => {
      const inventory = "find . -printf '%P|%y|%m|%s|%T@|%l\\n' | grep -v '^|' | sort; cat file tool.sh";
      const thread = await asleepWith('echo kept > file; echo run > tool.sh; chmod 751 tool.sh; ln -s nowhere link');
      const before = await inside(one, thread, inventory);

      await createCopies(other).restore(thread, 'exe_1');

      expect(await other.provider.list({ thread })).toMatchObject([
        { state: 'archived', labels: { account: 'acc_1' } },
      ]);
      expect(await inside(other, thread, inventory)).toBe(before);
      expect(await inside(other, thread, 'echo more >> file && cat file')).toBe('kept\nmore\n');
    });

    it('tell the first call of what is gone, and again if it is repeated', async () => {
      const thread = await asleepWith('echo kept > file');
      await createCopies(other).restore(thread, 'exe_1');

      const told = await findNotice(other, thread, 'call_1');
      expect(told).toMatch(
        /^Not executed: the executor that had this workspace is lost, or its disk\. Its files were restored here as they were at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\. What was changed later is gone, and so is everything that was running\. Repeat/,
      );
      expect(await findNotice(other, thread, 'call_1')).toBe(told);
      expect(await findNotice(other, thread, 'call_2')).toBeUndefined();
      expect(await other.provider.records.read(thread)).toMatchObject({ exists: true });
    });

    it('say so where there was none', async () => {
      const thread = newThreadId();
      await createCopies(other).restore(thread, 'exe_1');

      expect(await findNotice(other, thread, 'call_1')).toContain(
        'No copy of its files had been saved: if it had any,',
      );
      expect(await inside(other, thread, 'ls')).toBe('');
    });

    it('replace what another executor has from an earlier time', async () => {
      const thread = await asleepWith('echo new > file');
      await inside(other, thread, 'echo old > file; echo old > stale');

      await createCopies(other).restore(thread, 'exe_1');

      expect(await inside(other, thread, 'ls; cat file')).toBe('file\nnew\n');
    });

    it('are not made again of what did not change, also after a restart', async () => {
      const thread = await asleepWith('echo kept > file');
      const saved = createCopies(one).counts.saved;
      await expect(createCopies(one).save(thread)).resolves.toBe(false);
      await one.restart();
      await createCopies(one).saveAll();
      expect(createCopies(one).counts.saved).toBe(0);
      expect(saved).toBeGreaterThan(0);

      await inside(one, thread, 'echo more >> file');
      await one.provider.putToSleep(thread);
      await createCopies(one).saveAll();
      expect(createCopies(one).counts.saved).toBe(1);
    });

    it('are made again of what changed after the clock was set back', async () => {
      setClockAhead(3_600_000);
      const thread = await asleepWith('echo kept > file').finally(() => jest.useRealTimers());

      await inside(one, thread, 'echo more >> file');
      await one.provider.putToSleep(thread);
      await createCopies(one).saveAll();
      await createCopies(other).restore(thread, 'exe_1');

      expect(await inside(other, thread, 'cat file')).toBe('kept\nmore\n');
    });

    it('are not made while it is awake, and do not keep a use waiting', async () => {
      const thread = newThreadId();
      await inside(one, thread, 'echo x > kept');
      await expect(createCopies(one).save(thread)).resolves.toBe(false);

      await one.provider.putToSleep(thread);
      const saving = createCopies(one).save(thread);
      expect(await inside(one, thread, 'echo y >> kept; cat kept')).toBe('x\ny\n');
      await saving;
    });

    it('are made of archived ones too, and of those that are awake when the executor is closed', async () => {
      const archived = await asleepWith('echo archived > file');
      await one.provider.archive(archived);
      const awake = newThreadId();
      await inside(one, awake, 'echo awake > file');
      await one.restart();

      for (const [thread, content] of [
        [archived, 'archived\n'],
        [awake, 'awake\n'],
      ] as const) {
        await createCopies(other).restore(thread, 'exe_1');
        expect(await inside(other, thread, 'cat file')).toBe(content);
      }
    });

    it('that were restored are saved again at once, with the time of the files', async () => {
      const thread = await asleepWith('echo kept > file');
      await createCopies(other).restore(thread, 'exe_1');
      expect(await stored(thread)).toEqual(['exe_1.copy', 'exe_2.copy']);
      const first = await findNotice(other, thread, 'call_1');

      await createCopies(one).restore(thread, 'exe_2');

      expect(await findNotice(one, thread, 'call_1')).toBe(first);
      expect(await inside(one, thread, 'cat file')).toBe('kept\n');
    });

    it('go with the thread, and with its files where their owner has asked for it', async () => {
      for (const reason of [undefined, 'request'] as const) {
        const thread = await asleepWith('echo kept > file');
        await createCopies(other).restore(thread, 'exe_1');
        await other.provider.remove(thread, reason);

        expect(await stored(thread)).toEqual([]);
      }
    });

    it('of another executor stay where one leaves a workspace, or deletes it as unused', async () => {
      const [left, unused] = [await asleepWith('echo x > file'), await asleepWith('echo x > file')];
      for (const thread of [left, unused]) await createCopies(other).restore(thread, 'exe_1');

      await createCopies(one).leave(left);
      await one.provider.remove(unused, 'unused');

      expect(await one.provider.list({ thread: left })).toEqual([]);
      expect([await stored(left), await stored(unused)]).toEqual([['exe_2.copy'], ['exe_2.copy']]);
      expect(await inside(other, left, 'cat file')).toBe('x\n');
    });

    it('that are torn leave what is here, and are never restored', async () => {
      const thread = await asleepWith('echo kept > file');
      const copy = join(folder, thread, 'exe_1.copy');
      await truncate(copy, (await stat(copy)).size - 10);
      await inside(other, thread, 'echo old > file');

      await expect(createCopies(other).restore(thread, 'exe_1')).rejects.toThrow('bytes');

      expect(await inside(other, thread, 'cat file')).toBe('old\n');
      expect(await findNotice(other, thread, 'call_1')).toBeUndefined();
    });

    it('that cannot be saved are tried again, and delete nothing that they should go with', async () => {
      const thread = newThreadId();
      await inside(one, thread, 'echo kept > file');
      await rm(folder, { recursive: true });
      await one.provider.putToSleep(thread);
      await createCopies(one).saveAll();
      expect(createCopies(one).counts.failed).toBeGreaterThan(0);
      await expect(one.provider.remove(thread, 'request')).rejects.toThrow('could not be deleted, so nothing was');

      await mkdir(folder);
      await createCopies(one).saveAll();
      await createCopies(other).restore(thread, 'exe_1');
      expect(await inside(other, thread, 'cat file')).toBe('kept\n');
    });
  });
}
