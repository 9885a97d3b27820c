import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../testing/run-command';
import { SandboxFixture } from '../../embedded/testing/sandbox-fixture';

describe('a sandbox that is removed', () => {
  let fixture: SandboxFixture;
  const isThere = (threadId: string) => existsSync(join(fixture.root, threadId));

  beforeAll(async () => {
    fixture = await SandboxFixture.open();
  });
  afterAll(() => fixture.close());

  it('is deleted from the disk, with its processes killed', async () => {
    const sandbox = await fixture.sandbox('thr_busy');
    let up: () => void = () => {};
    const started = new Promise<void>((resolve) => (up = resolve));
    const running = run(sandbox, 'echo x > file; echo up; sleep 60', { output: () => up() });
    await started;

    await fixture.provider.remove('thr_busy');

    expect(isThere('thr_busy')).toBe(false);
    await expect(running).resolves.toMatchObject({ ending: 'killed' });
  });

  it('is deleted although it was being booted', async () => {
    const sandbox = await fixture.sandbox('thr_boot');
    const running = run(sandbox, 'echo x > file; sleep 60').catch(String);

    await fixture.provider.remove('thr_boot');

    expect(isThere('thr_boot')).toBe(false);
    await expect(running).resolves.toBeDefined();
    expect(isThere('thr_boot')).toBe(false);
  });

  it('releases its uid, also when it has locked a directory', async () => {
    await run(await fixture.sandbox('thr_user'), 'mkdir closed; touch closed/file; chmod 0500 closed');
    const claims = () => readdir(join(fixture.root, '.uids')).catch(() => []);
    const before = await claims();

    await fixture.provider.remove('thr_user');

    expect(await claims()).toHaveLength(Math.max(0, before.length - 1));
  });

  it('is deleted also when no isolation works', async () => {
    await run(await fixture.sandbox('thr_left'), 'echo x > file');
    const without = await SandboxFixture.open({ root: fixture.root, bubblewrapPath: '/nowhere/bwrap' });

    await without.provider.remove('thr_left');

    expect(isThere('thr_left')).toBe(false);
    await without.close();
  });

  it('is refused when the id is not that of a thread', async () => {
    await expect(fixture.provider.remove('../elsewhere')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(fixture.provider.remove('.uids')).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
