import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { executorResult } from '@rondo/contract';
import { ExecutorFixture } from '../../testing/executor-fixture';

const missing =
  'There is no browser in this sandbox: its operator can set BROWSER_PATH, DOCKER_BROWSER_PATH or DAYTONA_BROWSER_PATH.';

/** Opens a file of the workspace with the browser at this path. */
async function openWith(browserPath: string | undefined) {
  const fixture = await ExecutorFixture.open({ browserPath });
  try {
    await fixture.use('create_file', { file_path: 'page.html', file_contents: '<title>Here</title>' });
    return executorResult.parse(await fixture.use('browser_navigate_to', { url: 'file:///workspace/page.html' }));
  } finally {
    await fixture.close();
  }
}

describe('the browser of a sandbox', () => {
  let hidden: string;
  /** A program below a directory that the users of sandboxes may not enter. */
  const programThat = async (does: string): Promise<string> => {
    const path = join(hidden, 'browser', 'program');
    await mkdir(dirname(path));
    await chmod(dirname(path), 0o755);
    await writeFile(path, `#!/bin/sh\n${does}\n`);
    await chmod(path, 0o755);
    return path;
  };

  /** The browser of these tests, found below that directory. Only one that is installed may be started by another program. */
  const hiddenBrowser = async (): Promise<string> => {
    const path = process.env['BROWSER_PATH'] ?? '/usr/bin/chromium';
    if (path.startsWith('/usr/')) return programThat(`exec ${path} "$@"`);
    await symlink(dirname(path), join(hidden, 'browser'));
    return join(hidden, 'browser', basename(path));
  };

  beforeEach(async () => {
    hidden = await mkdtemp(join(tmpdir(), 'rondo-browser-'));
  });
  afterEach(() => rm(hidden, { recursive: true }));

  it('may be anywhere on the machine', async () => {
    await expect(openWith(await hiddenBrowser())).resolves.toMatchObject({ success: true, browser: { title: 'Here' } });
  });

  it.each([
    ['is not configured', undefined, missing],
    ['is not there', '/usr/lib/no-browser', missing],
    ['is another program', '/usr/bin/false', 'The browser could not be started: it ended at once.'],
  ])('fails the call when it %s', async (_, path, error) => {
    await expect(openWith(path)).resolves.toEqual({ success: false, output: '', error });
  });

  it.each([
    ['says why it cannot start', 'echo "no display" >&2; exit 1', 'The browser could not be started: no display'],
    [
      'names a port where it does not listen',
      'echo "DevTools listening on ws://127.0.0.1:9/devtools/browser/x" >&2; sleep 60',
      /There is no browser: /,
    ],
    [
      'names no port',
      'echo "DevTools listening on ws://127.0.0.1:99999999/x" >&2; sleep 60',
      /^(There is no browser|The browser could not be started)/,
    ],
  ])('fails the call when it %s', async (_, does, error) => {
    const result = await openWith(await programThat(does));

    expect(result).toMatchObject({ success: false, error: expect.stringMatching(error) });
  });
});
