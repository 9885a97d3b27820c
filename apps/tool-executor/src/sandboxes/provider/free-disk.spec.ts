import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { SandboxFixture } from '../embedded/testing/sandbox-fixture';
import { SandboxHealth } from './sandbox-health';
import { run } from '../testing/run-command';
import { newThreadId } from '../testing/sandbox-provider-fixture';
import { FreeDisk } from './free-disk';

const more = 2 ** 50;
const silent = { info: () => undefined, warn: () => undefined };
const refused = { code: 'unavailable', message: expect.stringContaining('MiB left, less than the') };

describe('a disk that is nearly full', () => {
  let roomy: SandboxFixture;
  let full: SandboxFixture;
  const thread = newThreadId();

  beforeAll(async () => {
    roomy = await SandboxFixture.open();
    await (await roomy.sandbox(thread)).files.write('kept', 'x', { mode: 'create' });
    await roomy.provider.putToSleep(thread);
    full = await SandboxFixture.open({ root: roomy.root, freeDiskBytes: more });
  });
  afterAll(async () => {
    await full.provider.close();
    await roomy.close();
  });

  it('takes no command, no file and no workspace, and says why', async () => {
    const sandbox = await full.sandbox(thread);
    const upload = async function* () {
      yield Buffer.from('x');
    };

    await expect(run(sandbox, 'true')).rejects.toMatchObject(refused);
    await expect(sandbox.files.write('new', 'x', { mode: 'put' })).rejects.toMatchObject(refused);
    await expect(sandbox.files.writeStream('new', upload(), { mode: 'put', maxBytes: 1 })).rejects.toMatchObject(
      refused,
    );
    const another = newThreadId();
    await expect((await full.sandbox(another)).files.list('.')).rejects.toMatchObject(refused);
    expect(await full.provider.list({ thread: another })).toEqual([]);
  });

  it('lets files be read and deleted', async () => {
    const { files } = await full.sandbox(thread);

    expect((await files.read('kept')).content.toString()).toBe('x');
    await files.delete('kept');
    await expect(files.stat('kept')).resolves.toBeUndefined();
  });

  it('takes no more threads, although sandboxes work', async () => {
    const health = new SandboxHealth(full.provider, silent);

    await expect(health.problem()).resolves.toContain('MiB left');
    await expect(health.unusable()).resolves.toBeUndefined();
    await expect(new SandboxHealth(roomy.provider, silent).problem()).resolves.toBeUndefined();
  });

  it('is measured as what a user without privileges may write, also before the directory exists', async () => {
    const { bavail, bsize } = await statfs(tmpdir());

    const free = await new FreeDisk(`${tmpdir()}/not/yet`, 0).freeBytes();

    expect(Math.abs(free - bavail * bsize)).toBeLessThan(2 ** 30);
    await expect(new FreeDisk('/', 0).refusal()).resolves.toBeUndefined();
  });
});
