import { DaytonaFixture } from '../../sandboxes/daytona/testing/daytona-fixture';
import { DockerFixture } from '../../sandboxes/docker/testing/docker-fixture';
import { imageBrowser } from '../../sandboxes/testing/image-browser';
import { newThreadId } from '../../sandboxes/testing/sandbox-provider-fixture';
import { BrowserLost } from './browser-errors';
import { BrowserSession } from './browser-session';

const fixtures = {
  docker: (browserPath: string) => DockerFixture.open({ docker: { browserPath } }, { policy: 'none' }),
  daytona: (browserPath: string) => DaytonaFixture.open({ daytona: { browserPath } }),
};

const page = '<title>Here</title><p>Hé 漢字</p><button onclick="document.title = \'Bought\'">Buy</button>';

describe.each(Object.entries(fixtures))('the browser of an image at %s', (provider, openWith) => {
  let close: () => Promise<void>;
  afterEach(() => close());

  let endRun: (run: string) => Promise<unknown>;
  const sandboxWith = async (browserPath: string) => {
    const fixture = await openWith(browserPath);
    const thread = newThreadId();
    close = () => fixture.close();
    endRun = (run) => fixture.provider.endRun(thread, run);
    return fixture.provider.get(thread);
  };
  const openPage = (session: BrowserSession) =>
    session.act(async ({ tab }) => {
      await tab.navigate('file:///workspace/page.html');
      return 'opened';
    });

  it('opens pages, shows them, and is killed with all of its processes', async () => {
    const sandbox = await sandboxWith(imageBrowser());
    await sandbox.files.write('page.html', page, { mode: 'create' });

    const session = await BrowserSession.open(sandbox, 'run_1');
    const { observation } = await openPage(session);
    expect(observation).toMatchObject({ title: 'Here', url: 'file:///workspace/page.html' });
    expect(observation?.elements).toContain('Hé 漢字');
    expect(observation?.screenshot?.length).toBeGreaterThan(1_000);

    await session.close();
    const { output } = await sandbox.exec({ id: 'ps', command: 'cat /proc/[0-9]*/cmdline | tr "\\0" " "' });
    expect(output).not.toContain('user-data-dir');
  });

  it('ends with its sandbox, and is started again', async () => {
    const sandbox = await sandboxWith(imageBrowser());
    await sandbox.files.write('page.html', page, { mode: 'create' });
    const session = await BrowserSession.open(sandbox, 'run_1');

    await sandbox.stop();
    await expect(openPage(session)).rejects.toThrow(BrowserLost);

    const again = await BrowserSession.open(sandbox, 'run_1');
    await expect(openPage(again)).resolves.toMatchObject({ observation: { title: 'Here' } });
    await again.close();
  });

  it('ends with its run', async () => {
    const sandbox = await sandboxWith(imageBrowser());
    const session = await BrowserSession.open(sandbox, 'run_1');

    await endRun('run_2');
    await expect(session.act(() => Promise.resolve('still here'))).resolves.toMatchObject({ message: 'still here' });
    await endRun('run_1');

    await expect(session.act(() => Promise.resolve(''))).rejects.toThrow(BrowserLost);
  });

  if (provider === 'daytona') {
    it.each([
      ['is not there', '/usr/lib/no-browser', 'There is no browser in this sandbox'],
      ['is another program', '/usr/bin/false', 'The browser could not be started: it ended at once.'],
    ])('fails the call when it %s', async (_, path, message) => {
      await expect(BrowserSession.open(await sandboxWith(path), 'run_1')).rejects.toThrow(message);
    });
  } else {
    it('is looked for at the start, so that a wrong path is found there', async () => {
      const fixture = await fixtures.docker('/usr/lib/no-browser');
      close = () => fixture.close();

      await expect(fixture.provider.probe()).resolves.toMatchObject({
        usable: false,
        reason: expect.stringContaining('The image has no program /usr/lib/no-browser.'),
        advice: expect.stringContaining('DOCKER_BROWSER_PATH'),
      });
    });
  }
});
