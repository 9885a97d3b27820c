import { TermsInUse } from '../egress/terms-in-use';
import type { CommandOutcome, Sandbox } from '../provider/sandbox';
import { readUntil, run } from './run-command';
import { describeArchives } from './sandbox-archive.contract';
import { describeCommands, describeSessions } from './sandbox-commands.contract';
import { describePorts } from './sandbox-ports.contract';
import { describeFiles } from './sandbox-files.contract';
import {
  type MakeFixture,
  type SandboxProviderFixture,
  readCapabilities,
  newThreadId,
} from './sandbox-provider-fixture';

/**
 * What every SandboxProvider promises: each implementation runs this suite. A capability that a provider declares as missing
 * is tested as a refusal, so nothing here depends on a provider's name.
 */
export function describeSandboxProvider(name: string, makeFixture: MakeFixture): void {
  describe(`SandboxProvider ${name}`, () => {
    describeCommands(makeFixture);
    describeSessions(makeFixture);
    describeFiles(makeFixture);
    describePorts(makeFixture);
    describeLifecycle(makeFixture);
    describeLabels(makeFixture);
    describeRunEnds(makeFixture);
    describeArchives(makeFixture);
  });
}

function describeLifecycle(makeFixture: MakeFixture): void {
  describe('lifecycle', () => {
    let fixture: SandboxProviderFixture;
    beforeAll(async () => {
      fixture = await makeFixture();
    });
    afterAll(() => fixture.close());

    it('proves by a probe that commands run', async () => {
      await expect(fixture.provider.probe()).resolves.toMatchObject({ usable: true });
    });

    it('creates a sandbox at its first use, not when it is looked up', async () => {
      const thread = newThreadId();

      const sandbox = await fixture.provider.get(thread);
      expect([sandbox.id, fixture.provider.isAwake(thread)]).toEqual([thread, false]);
      expect(await fixture.provider.list({ thread })).toEqual([]);

      await run(sandbox, 'true');
      expect(fixture.provider.isAwake(thread)).toBe(true);
    });

    it('limits its network to the hosts of a run, after it has ended what ran before, or refuses to by the name', async () => {
      const thread = newThreadId();
      const terms = new TermsInUse(fixture.provider);
      const sandbox = await fixture.provider.get(thread);
      await run(sandbox, 'echo kept > kept.txt; (exec -a left-over sleep 1000) > /dev/null 2>&1 &');
      const held = terms.hold(thread, { egress: ['example.com'] });
      if (!(await readCapabilities(fixture.provider)).egressPolicy) {
        await expect(held).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('`egress`') });
        return;
      }

      const end = await held;
      expect(fixture.provider.toEgress(thread).listed).toEqual(['example.com']);
      const again = await fixture.provider.get(thread);
      const { output } = await run(again, 'cat kept.txt; pgrep -f "[l]eft-over" || echo none');
      expect(output.trim().split('\n')).toEqual(['kept', 'none']);
      end();
      (await terms.hold(thread))();
      expect(fixture.provider.toEgress(thread).listed).toBeUndefined();
    });

    it('has the size that a run names, with the files of another one, or refuses it by the name', async () => {
      const thread = newThreadId();
      const terms = new TermsInUse(fixture.provider);
      await run(await fixture.provider.get(thread), 'echo kept > kept.txt');
      const { size } = await readCapabilities(fixture.provider);
      const held = terms.hold(thread, { size: { disk_mb: 32 } });
      if (size.disk_mb === undefined) {
        await expect(held).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('`size') });
        return;
      }

      const end = await held;
      const limited = await fixture.provider.get(thread);
      expect(await run(limited, 'cat kept.txt; head -c 48M /dev/zero > big; sleep 30')).toMatchObject({
        ...{ ending: 'killed', output: 'kept\n' },
        detail: expect.stringContaining('disk quota of 32 MiB'),
      });
      end();
      await expect(terms.hold(thread, { size: { disk_mb: 10_485_760 } })).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringMatching(/`size.disk_mb`: must be at most \d/),
      });
      (await terms.hold(thread))();
      expect(await run(await fixture.provider.get(thread), 'cat kept.txt; du -m big')).toMatchObject({ exitCode: 0 });
    });

    it('reports which awake sandboxes run commands and background jobs', async () => {
      const thread = newThreadId();
      const sandbox = await fixture.provider.get(thread);
      const activity = () => fixture.provider.awake().find(({ threadId }) => threadId === thread);
      let during: ReturnType<typeof activity>;

      await run(sandbox, 'echo up; sleep 0.2', { output: () => (during ??= activity()) });

      expect(during).toMatchObject({ isBusy: true, hasBackground: false });
      expect(activity()).toMatchObject({ isBusy: false, hasBackground: false });
      if (!(await readCapabilities(fixture.provider)).backgroundSessions) return;
      await sandbox.start({ id: 'job', session: 'job', command: 'sleep 60' });
      expect(activity()).toMatchObject({ isBusy: false, hasBackground: true });
    });

    it('keeps the files of different threads apart (I10)', async () => {
      const [one, other] = await Promise.all([newThreadId(), newThreadId()].map((id) => fixture.provider.get(id)));
      await one?.files.write('private', 'x', { mode: 'create' });

      await expect(other?.files.stat('private')).resolves.toBeUndefined();
    });

    it('a stop kills running commands, and the next use finds the files', async () => {
      const sandbox = await fixture.provider.get(newThreadId());
      const { outcome } = await runUntilKilled(sandbox, 'echo x > kept');

      await expect(sandbox.stop()).resolves.toMatchObject({ wasRunning: true });

      await expect(outcome).resolves.toMatchObject({ ending: 'killed' });
      await expect(sandbox.stop()).resolves.toMatchObject({ wasRunning: false });
      await expect(run(sandbox, 'cat kept')).resolves.toMatchObject({ output: 'x\n' });
    });

    it('a sandbox put to sleep runs nothing and keeps its files', async () => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread), 'echo x > kept');

      await fixture.provider.putToSleep(thread);

      expect(fixture.provider.isAwake(thread)).toBe(false);
      await expect(run(await fixture.provider.get(thread), 'cat kept')).resolves.toMatchObject({ output: 'x\n' });
    });

    it('files outlive a restart of the executor', async () => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread), 'echo x > kept');

      await fixture.restart();

      await expect(run(await fixture.provider.get(thread), 'cat kept')).resolves.toMatchObject({ output: 'x\n' });
    });

    it('a removal kills running commands and deletes the files', async () => {
      const thread = newThreadId();
      const { outcome } = await runUntilKilled(await fixture.provider.get(thread), 'echo x > file');

      await fixture.provider.remove(thread);

      await expect(outcome).resolves.toMatchObject({ ending: 'killed' });
      await expect((await fixture.provider.get(thread)).files.stat('file')).resolves.toBeUndefined();
    });

    it('a removed sandbox is not created again through an old reference', async () => {
      const thread = newThreadId();
      const sandbox = await fixture.provider.get(thread);
      await run(sandbox, 'true');

      await fixture.provider.remove(thread);

      await expect(run(sandbox, 'echo x > file')).rejects.toMatchObject({ code: 'unavailable' });
      expect(await fixture.provider.list({ thread })).toEqual([]);
    });

    it('a lookup during a removal gets an empty sandbox', async () => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread), 'touch old');

      const removal = fixture.provider.remove(thread);
      const again = await fixture.provider.get(thread);

      await expect(run(again, 'ls; touch new')).resolves.toMatchObject({ output: '' });
      await removal;
      await expect(run(again, 'ls')).resolves.toMatchObject({ output: 'new\n' });
    });

    it('a removal may be repeated, concurrently or later, and needs no sandbox', async () => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread), 'true');

      await Promise.all([fixture.provider.remove(thread), fixture.provider.remove(thread)]);
      await fixture.provider.remove(thread);
      await fixture.provider.remove(newThreadId());

      expect(await fixture.provider.list({ thread })).toEqual([]);
    });

    it('refuses a thread id that is none', async () => {
      await expect(fixture.provider.remove('../elsewhere')).rejects.toMatchObject({ code: 'invalid_request' });
      const sandbox = await fixture.provider.get('../elsewhere');
      await expect(run(sandbox, 'true')).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it('a closed provider creates no sandbox', async () => {
      const closed = await makeFixture();
      await closed.provider.close();

      await expect(closed.provider.get(newThreadId())).rejects.toMatchObject({ code: 'unavailable' });
      await closed.close();
    });
  });
}

function describeLabels(makeFixture: MakeFixture): void {
  describe('labels', () => {
    let fixture: SandboxProviderFixture;
    beforeAll(async () => {
      fixture = await makeFixture();
    });
    afterAll(() => fixture.close());

    const labels = { install: 'spec', account: 'acc_1', run: 'run_1', epoch: '7' };

    it('are those of the call that creates the sandbox', async () => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread, labels), 'true');
      await run(await fixture.provider.get(thread, { ...labels, run: 'run_2' }), 'true');

      expect(await fixture.provider.list({ thread })).toEqual([
        { threadId: thread, labels: { ...labels, thread }, state: 'awake' },
      ]);
    });

    it('select sandboxes, also those that sleep', async () => {
      const [one, other] = [newThreadId(), newThreadId()];
      await run(await fixture.provider.get(one, { account: 'acc_one' }), 'true');
      await run(await fixture.provider.get(other, { account: 'acc_other' }), 'true');
      await fixture.provider.putToSleep(one);

      const listed = await fixture.provider.list({ account: 'acc_one' });

      expect(listed).toMatchObject([{ threadId: one, labels: { account: 'acc_one', thread: one }, state: 'asleep' }]);
      const all = (await fixture.provider.list()).map(({ threadId }) => threadId);
      expect(all).toEqual(expect.arrayContaining([one, other]));
    });

    it('outlive a restart of the executor', async () => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread, labels), 'true');

      await fixture.restart();

      expect(await fixture.provider.list({ thread, account: 'acc_1' })).toMatchObject([
        { labels: { ...labels, thread } },
      ]);
    });
  });
}

function describeRunEnds(makeFixture: MakeFixture): void {
  describe('the end of a run', () => {
    let fixture: SandboxProviderFixture;
    beforeAll(async () => {
      fixture = await makeFixture();
    });
    afterAll(() => fixture.close());

    it('ends the background jobs of the run and no others', async () => {
      if (!(await readCapabilities(fixture.provider)).backgroundSessions) return;
      const thread = newThreadId();
      const sandbox = await fixture.provider.get(thread);
      await sandbox.start({ id: 'call_1', session: 'kept', command: 'echo up; sleep 60', run: 'run_1' });
      await readUntil(sandbox, 'kept', { text: 'up' });
      await sandbox.start({ id: 'call_2', session: 'ended', command: 'echo up; sleep 60', run: 'run_2' });
      await readUntil(sandbox, 'ended', { text: 'up' });

      const ended = await fixture.provider.endRun(thread, 'run_2');

      expect(ended).toMatchObject([{ commandId: 'call_2', verifiedDeadAt: expect.any(String) }]);
      await expect(sandbox.read('ended')).resolves.toMatchObject({ running: false, outcome: { ending: 'killed' } });
      await expect(sandbox.read('kept')).resolves.toMatchObject({ running: true });
    });

    it('ends daemons that have left the group and the session of their command', async () => {
      const { runProcesses } = await readCapabilities(fixture.provider);
      if (!runProcesses) return;
      const thread = newThreadId();
      const sandbox = await fixture.provider.get(thread);
      const daemon = '(setsid sleep 4712 >/dev/null 2>&1 &); until pgrep -fx "sleep 471[2]"; do :; done';
      await run(sandbox, daemon, { id: 'call_1', run: 'run_1' });

      const ended = await fixture.provider.endRun(thread, 'run_1');

      expect(ended).toMatchObject([{ commandId: 'call_1', processes: ['sleep'] }]);
      await expect(run(sandbox, 'pgrep -fx "sleep 471[2]"')).resolves.toMatchObject({ exitCode: 1 });
    });

    it('creates and wakes no sandbox', async () => {
      const thread = newThreadId();
      await run(await fixture.provider.get(thread), 'true', { run: 'run_1' });
      await fixture.provider.putToSleep(thread);

      await expect(fixture.provider.endRun(thread, 'run_1')).resolves.toEqual([]);
      await expect(fixture.provider.endRun(newThreadId(), 'run_1')).resolves.toEqual([]);

      expect(fixture.provider.isAwake(thread)).toBe(false);
    });
  });
}

/** Starts a command that runs until it is killed. Resolves once it runs; the outcome is wrapped, so as not to be awaited too. */
async function runUntilKilled(sandbox: Sandbox, before: string): Promise<{ outcome: Promise<CommandOutcome> }> {
  let started = (): void => undefined;
  const hasStarted = new Promise<void>((resolve) => (started = resolve));
  const outcome = run(sandbox, `${before}; echo up; sleep 60`, { output: () => started() });
  await hasStarted;
  return { outcome };
}
