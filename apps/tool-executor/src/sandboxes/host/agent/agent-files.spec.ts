import type { Sandbox } from '../../provider/sandbox';
import { run } from '../../testing/run-command';
import { SandboxFixture } from '../../embedded/testing/sandbox-fixture';

describe('files of an embedded sandbox', () => {
  let fixture: SandboxFixture;
  let sandbox: Sandbox;

  beforeAll(async () => {
    fixture = await SandboxFixture.open();
    sandbox = await fixture.sandbox();
  });
  afterAll(() => fixture.close());

  const text = async (path: string) => (await sandbox.files.read(path)).content.toString();

  it('behind a symbolic link are those of the sandbox, never of the host', async () => {
    await run(sandbox, `ln -s /etc/passwd passwd; ln -s / root; ln -s ${fixture.root} fixture`);

    expect(await text('passwd')).toContain('agent:x:1000');
    await expect(sandbox.files.read('root/root/.bashrc')).rejects.toMatchObject({
      code: expect.stringMatching(/not_found|failed/),
    });
    await expect(sandbox.files.list('fixture')).rejects.toMatchObject({ code: 'not_found' });
    await expect(sandbox.files.write('root/etc/passwd', 'x', { mode: 'replace' })).rejects.toMatchObject({
      code: 'failed',
    });
  });

  it('are written also where the workspace itself may not be written to, or a link leads to another disk', async () => {
    await run(sandbox, 'mkdir open; ln -s /tmp/elsewhere link; mkdir /tmp/elsewhere; chmod 555 .');

    await sandbox.files.write('open/file', 'x', { mode: 'create' });
    await sandbox.files.write('link/file', 'y', { mode: 'put' });

    await expect(run(sandbox, 'chmod 755 .; cat open/file link/file; ls -A open link/')).resolves.toMatchObject({
      output: 'xylink/:\nfile\n\nopen:\nfile\n',
    });
  });

  it('in a folder that the sandbox may not read are missing in a list of all, which says so', async () => {
    await run(sandbox, 'mkdir -p all/closed all/open; touch all/closed/in all/open/in; chmod 0 all/closed');

    const { entries } = await sandbox.files.list('all', { depth: 3 });

    expect(entries.toSorted((one, other) => (one.path < other.path ? -1 : 1))).toMatchObject([
      { path: 'closed', kind: 'directory', unreadable: true },
      { path: 'open', kind: 'directory' },
      { path: 'open/in', kind: 'file' },
    ]);
  });
});
