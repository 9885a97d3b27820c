import { run } from './run-command';
import { type MakeFixture, type SandboxProviderFixture, newThreadId } from './sandbox-provider-fixture';

/** Everything that tells one tree from another: names, kinds, permissions, times, links and contents. */
const inventory =
  "find . -printf '%P|%y|%m|%s|%T@|%n|%l\\n' | sed 's/^\\([^|]*|d|[^|]*|\\)[^|]*/\\1/' | sort; find . -type f | sort | xargs -d '\\n' sha256sum";

const makeTree = [
  'mkdir -p src/deep empty && cd src',
  "echo run > tool.sh && chmod 751 tool.sh && printf 'two\\nlines' > 'a name with spaces, ünïcode and *'",
  'ln -s ../nowhere dangling && ln -s /etc/passwd outside && ln tool.sh deep/same && ln -s deep folder',
  'head -c 300000 /dev/urandom > noise && touch -d 2001-02-03T04:05:06.789 noise && touch -- -rf',
  'truncate -s 3000000 holes && echo end >> holes && chmod 500 ../empty',
].join(' && ');

/** What every provider promises about sandboxes that are archived, and about those that are deleted for a reason. */
export function describeArchives(makeFixture: MakeFixture): void {
  describe('archives', () => {
    let fixture: SandboxProviderFixture;
    beforeAll(async () => {
      fixture = await makeFixture();
    });
    afterAll(() => fixture.close());

    const asleepWith = async (command: string): Promise<string> => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread), command);
      await fixture.provider.putToSleep(thread);
      return thread;
    };
    const inside = async (thread: string, command: string) =>
      (await run(await fixture.provider.get(thread), command)).output;
    const findState = async (thread: string) => (await fixture.provider.list({ thread }))[0]?.state;

    it('bring every file back as it was, also after a restart of the executor (I10)', async () => {
      const thread = await asleepWith(makeTree);
      const before = await inside(thread, inventory);
      await fixture.provider.putToSleep(thread);

      await expect(fixture.provider.archive(thread)).resolves.toBe(true);
      expect(await findState(thread)).toBe('archived');
      await fixture.restart();

      expect(await inside(thread, inventory)).toBe(before);
      expect(before.split('\n').length).toBeGreaterThan(15);
      expect(await findState(thread)).toBe('awake');
    });

    it('are made of sandboxes that sleep, and of nothing else', async () => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread), 'echo x > kept');

      await expect(fixture.provider.archive(thread)).resolves.toBe(false);
      await expect(fixture.provider.archive(newThreadId())).resolves.toBe(false);

      expect(await findState(thread)).toBe('awake');
    });

    it('may be made again, and again after a use', async () => {
      const thread = await asleepWith('echo one > kept');
      await fixture.provider.archive(thread);
      await expect(fixture.provider.archive(thread)).resolves.toBe(true);

      await inside(thread, 'echo two > kept');
      await fixture.provider.putToSleep(thread);
      await expect(fixture.provider.archive(thread)).resolves.toBe(true);

      expect(await inside(thread, 'cat kept')).toBe('two\n');
    });

    it('do not keep a use waiting that comes meanwhile, and lose nothing to it', async () => {
      const thread = await asleepWith('echo x > kept');

      const archiving = fixture.provider.archive(thread);
      const used = inside(thread, 'echo y >> kept; cat kept');

      expect(await used).toBe('x\ny\n');
      await archiving;
      expect(await inside(thread, 'cat kept')).toBe('x\ny\n');
    });

    it('go with a removal', async () => {
      const thread = await asleepWith('echo x > kept');
      await fixture.provider.archive(thread);

      await fixture.provider.remove(thread);

      expect(await fixture.provider.list({ thread })).toEqual([]);
      expect(await inside(thread, 'ls')).toBe('');
    });
  });

  describe('a removal for a reason', () => {
    let fixture: SandboxProviderFixture;
    beforeAll(async () => {
      fixture = await makeFixture();
    });
    afterAll(() => fixture.close());

    it('is kept for the next call to be told, and a removal without one leaves nothing', async () => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread), 'true');
      await fixture.provider.remove(thread, 'unused');
      await fixture.restart();

      const { records } = fixture.provider;
      const deletion = { reason: 'unused', isDone: true };
      expect(await records.read(thread)).toMatchObject({ exists: false, deletion });

      await fixture.provider.remove(thread);
      expect(await records.threads()).toEqual([]);
    });
  });
}
