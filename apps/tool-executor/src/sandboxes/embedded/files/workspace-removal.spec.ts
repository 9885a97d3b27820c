import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../testing/run-command';
import { SandboxFixture } from '../testing/sandbox-fixture';

describe('a sandbox that is removed', () => {
  let fixture: SandboxFixture;
  const isThere = (threadId: string) => existsSync(join(fixture.root, threadId));

  beforeAll(async () => {
    fixture = await SandboxFixture.open();
  });
  afterAll(() => fixture.close());

  it('is gone with its files and its processes', async () => {
    const sandbox = await fixture.sandbox('thr_busy');
    let up: () => void = () => {};
    const started = new Promise<void>((resolve) => (up = resolve));
    const running = run(sandbox, 'echo x > file; echo up; sleep 60', { output: () => up() });
    await started;

    await fixture.provider.remove('thr_busy');

    expect(isThere('thr_busy')).toBe(false);
    await expect(running).resolves.toMatchObject({ ending: 'killed' });
  });

  it('is gone although it was just being booted', async () => {
    const sandbox = await fixture.sandbox('thr_boot');
    const running = run(sandbox, 'echo x > file; sleep 60').catch(String);

    await fixture.provider.remove('thr_boot');

    expect(isThere('thr_boot')).toBe(false);
    await expect(running).resolves.toBeDefined();
    expect(isThere('thr_boot')).toBe(false);
  });

  it('is not booted again by who still holds it', async () => {
    const sandbox = await fixture.sandbox('thr_held');
    await run(sandbox, 'true');

    const removal = fixture.provider.remove('thr_held');
    await run(sandbox, 'echo x > file').catch(String);
    await removal;

    expect(isThere('thr_held')).toBe(false);
    await expect(run(sandbox, 'echo x > file')).rejects.toMatchObject({ code: 'unavailable' });
    expect(isThere('thr_held')).toBe(false);
  });

  it('makes who asks for it meanwhile wait for an empty one', async () => {
    await run(await fixture.sandbox('thr_again'), 'touch old');

    const removal = fixture.provider.remove('thr_again');
    const again = await fixture.sandbox('thr_again');

    await expect(run(again, 'ls; touch new')).resolves.toMatchObject({ output: '' });
    await removal;
    await expect(run(again, 'ls')).resolves.toMatchObject({ output: 'new\n' });
  });

  it('may be removed twice, at the same time or later, and need never have been', async () => {
    await run(await fixture.sandbox('thr_twice'), 'true');

    await Promise.all([fixture.provider.remove('thr_twice'), fixture.provider.remove('thr_twice')]);
    await fixture.provider.remove('thr_twice');
    await fixture.provider.remove('thr_never');

    expect([isThere('thr_twice'), isThere('thr_never')]).toEqual([false, false]);
  });

  it('gives its user back, also where it has locked a directory', async () => {
    await run(await fixture.sandbox('thr_user'), 'mkdir closed; touch closed/file; chmod 0500 closed');
    const claims = () => readdir(join(fixture.root, '.uids')).catch(() => []);
    const before = await claims();

    await fixture.provider.remove('thr_user');

    expect(await claims()).toHaveLength(Math.max(0, before.length - 1));
  });

  it('needs no isolation to go', async () => {
    await run(await fixture.sandbox('thr_left'), 'echo x > file');
    const without = await SandboxFixture.open({ root: fixture.root, bubblewrapPath: '/nowhere/bwrap' });

    await without.provider.remove('thr_left');

    expect(isThere('thr_left')).toBe(false);
    await without.close();
  });

  it('is never anything but a thread of ours', async () => {
    await expect(fixture.provider.remove('../elsewhere')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(fixture.provider.remove('.uids')).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
