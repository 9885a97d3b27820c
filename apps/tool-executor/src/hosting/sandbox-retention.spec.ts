import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newUlid } from '@rondo/platform';
import { DaytonaFixture } from '../sandboxes/daytona/testing/daytona-fixture';
import { SandboxFixture } from '../sandboxes/embedded/testing/sandbox-fixture';
import { run } from '../sandboxes/testing/run-command';
import { setClockAhead } from '../sandboxes/testing/set-clock';
import { SandboxRetention } from './sandbox-retention';
import { deletionNotice } from '../sandboxes';

const hourMs = 3_600_000;
const log = { info: () => undefined, warn: () => undefined };
/** A worker whose database says that it is so many hours later. */
const after = (hours: number) => ({
  ask: () => Promise.resolve({ deleted: [], at: new Date(Date.now() + hours * hourMs).toISOString() }),
});

type Hosting = ConstructorParameters<typeof SandboxRetention>[0]['hosting'];

describe.each([
  ['embedded', () => SandboxFixture.open()],
  ['daytona', () => DaytonaFixture.open({ settings: { install: 'spec' } })],
])('SandboxRetention of %s sandboxes', (_, open) => {
  let fixture: Awaited<ReturnType<typeof open>>;
  beforeEach(async () => {
    fixture = await open();
    await run(await fixture.provider.get('thr_1'), 'echo x > kept');
  });
  afterEach(() => fixture.close());

  /** As if it were so many hours later. */
  const sweepAfter = (hours: number, limits: { archive: number; delete: number }, hosting: Hosting = after(hours)) =>
    new SandboxRetention({
      ...{ sandboxes: fixture.provider, hosting, log },
      archiveAfterMs: limits.archive * hourMs,
      deleteAfterMs: limits.delete * hourMs,
    }).sweep(Date.now() + hours * hourMs, performance.now() + hours * hourMs);
  const state = async () => (await fixture.provider.list({ thread: 'thr_1' }))[0]?.state;
  const notice = (call: string) => deletionNotice(fixture.provider, 'thr_1', call);

  it('archives one that was unused for long enough, and the next use finds its files', async () => {
    await fixture.provider.putToSleep('thr_1');
    await sweepAfter(23, { archive: 24, delete: 0 });
    expect(await state()).toBe('asleep');

    await sweepAfter(25, { archive: 24, delete: 0 });

    expect(await state()).toBe('archived');
    await expect(run(await fixture.provider.get('thr_1'), 'cat kept')).resolves.toMatchObject({ output: 'x\n' });
  });

  it('deletes one that was unused for longer, packed or not, and tells the next call why', async () => {
    await fixture.provider.putToSleep('thr_1');
    await sweepAfter(25, { archive: 24, delete: 48 });
    await sweepAfter(49, { archive: 24, delete: 48 });

    expect(await state()).toBeUndefined();
    await fixture.restart();
    expect(await notice('call_1')).toMatch(
      /^Not executed: the files of this workspace were deleted on \d{4}-\d\d-\d\d/,
    );
    expect(await notice('call_1')).toMatch(/had not been used for/);
    expect(await notice('call_2')).toBeUndefined();
  });

  it.each([
    ['the database says otherwise', after(1)],
    ['no worker answers', { ask: () => Promise.resolve(undefined) }],
    ['a worker of an older version says no time', { ask: () => Promise.resolve({ deleted: [] }) }],
  ])('deletes nothing because the clock of this machine was set forward: %s', async (_case, hosting) => {
    await fixture.provider.putToSleep('thr_1');

    await sweepAfter(10_000, { archive: 24, delete: 48 }, hosting);

    expect(await state()).toBe('archived');
    await expect(run(await fixture.provider.get('thr_1'), 'cat kept')).resolves.toMatchObject({ output: 'x\n' });
  });

  it.each([
    ['this process has seen the use', false],
    ['the use would be from before the thread', true],
  ])(
    'deletes nothing because the clock of this machine was behind when it was used: %s',
    async (_case, isRestarted) => {
      const thread = isRestarted ? `thr_${newUlid()}` : 'thr_2';
      setClockAhead(-1_000 * 24 * hourMs);
      await run(await fixture.provider.get(thread), 'echo x > kept');
      await fixture.provider.records.recordUse(thread);
      await fixture.provider.putToSleep(thread);
      jest.useRealTimers();
      if (isRestarted) await fixture.restart();

      await sweepAfter(0, { archive: 0, delete: 48 });
      await sweepAfter(47, { archive: 0, delete: 48 });

      await expect(run(await fixture.provider.get(thread), 'cat kept')).resolves.toMatchObject({ output: 'x\n' });
    },
  );

  it('touches nothing that is awake, nor anything where the limits are zero', async () => {
    await sweepAfter(1_000, { archive: 1, delete: 2 });
    expect(await state()).toBe('awake');

    await fixture.provider.putToSleep('thr_1');
    await sweepAfter(1_000, { archive: 0, delete: 0 });
    expect(await state()).toBe('asleep');
  });

  it('tells of a sandbox that went without this program', async () => {
    await fixture.provider.putToSleep('thr_1');
    if (fixture instanceof DaytonaFixture)
      for (const { id } of fixture.server.control.all()) fixture.server.control.delete(id);
    else await rm(join(fixture.root, 'thr_1'), { recursive: true });

    await sweepAfter(0, { archive: 24, delete: 0 });
    expect(await notice('call_1')).toBeUndefined(); // its list may have been older than the sandbox

    await sweepAfter(1, { archive: 24, delete: 0 });
    expect(await notice('call_2')).toMatch(/files of this workspace are gone/);
  });
});

describe('SandboxRetention', () => {
  it('leaves the sandboxes of other executors at Daytona to them, unless Daytona knows that they are unused', async () => {
    const fixture = await DaytonaFixture.open({ settings: { install: 'spec' } });
    const { control } = fixture.server;
    await run(await fixture.provider.get('thr_1'), 'echo x > kept');
    await fixture.provider.putToSleep('thr_1');
    await fixture.provider.records.remove('thr_1'); // as of an executor that has never seen it
    const parts = { sandboxes: fixture.provider, log, archiveAfterMs: 0, deleteAfterMs: hourMs, hosting: after(2) };
    const listed = () => fixture.provider.list({ thread: 'thr_1' });

    await new SandboxRetention(parts).sweep(Date.now() + 100 * hourMs, performance.now() + 100 * hourMs);
    expect(await listed()).toHaveLength(1);

    for (const dto of control.all()) dto.lastActivityAt = new Date().toISOString();
    await new SandboxRetention(parts).sweep(Date.now() + 2 * hourMs, performance.now() + 2 * hourMs);
    expect(await listed()).toHaveLength(0);
    await fixture.close();
  });

  it('counts one that it has never seen as used now: a version that kept no records has left it', async () => {
    const fixture = await SandboxFixture.open();
    await run(await fixture.provider.get('thr_1'), 'echo x > kept');
    await fixture.provider.putToSleep('thr_1');
    await fixture.restart();
    await rm(join(fixture.root, '.records'), { recursive: true });
    const parts = { sandboxes: fixture.provider, log, archiveAfterMs: 0, deleteAfterMs: hourMs, hosting: after(0) };

    await new SandboxRetention(parts).sweep(Date.now());

    expect(await fixture.provider.list()).toHaveLength(1);
    expect(await fixture.provider.records.read('thr_1')).toMatchObject({ exists: true });
    await fixture.close();
  });
});
