import { setTimeout as delay } from 'node:timers/promises';
import { SandboxFixture } from '../embedded/testing/sandbox-fixture';
import { HostSandbox } from './host-sandbox';
import { readProcessTable } from './processes/process-table';

const mebibyte = 1024 * 1024;

/** The periodic checks are an hour apart: a test says itself when the usage is measured. */
const quota = { diskBytes: 10 * mebibyte, diskCheckMs: 3_600_000, hardDisk: 'off' } as const;

async function* mebibytes(count: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n += 1) yield await Promise.resolve(Buffer.alloc(mebibyte));
}

describe('a disk whose quota is watched', () => {
  let fixture: SandboxFixture;
  let sandbox: HostSandbox;

  beforeAll(async () => {
    fixture = await SandboxFixture.open(quota);
  });
  beforeEach(async () => {
    const opened = await fixture.sandbox();
    if (!(opened instanceof HostSandbox)) throw new Error('the provider has other sandboxes');
    sandbox = opened;
    await sandbox.files.stat('.');
    await sandbox.disk.enforce(readProcessTable); // from here on only a change makes a measurement due
  });
  afterAll(() => fixture.close());

  /** After a measurement the next one has to wait, the longer the slower the machine is. */
  const untilOverQuota = async () => {
    while ((await sandbox.disk.refusal()) === undefined) {
      await delay(20);
      await sandbox.disk.enforce(readProcessTable);
    }
  };

  it.each([
    [
      'files',
      async () => {
        for (const name of ['a', 'b', 'c']) {
          await sandbox.files.write(name, Buffer.alloc(4 * mebibyte), { mode: 'put' });
        }
      },
    ],
    [
      'a file in pieces',
      async () => {
        await sandbox.files.writeStream('big', mebibytes(12), { mode: 'put', maxBytes: 100 * mebibyte });
      },
    ],
  ])('is measured after an upload of %s, although no command runs', async (_, upload) => {
    await upload();
    await untilOverQuota();

    await expect(sandbox.files.write('more', 'x', { mode: 'put' })).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('over its disk quota'),
    });
  });

  it('refuses the next piece of a file that has become too much, and keeps none of it', async () => {
    const measuredOnTheWay = async function* () {
      yield* mebibytes(12);
      await untilOverQuota();
      yield* mebibytes(1);
    };

    const upload = sandbox.files.writeStream('big', measuredOnTheWay(), { mode: 'put', maxBytes: 100 * mebibyte });

    await expect(upload).rejects.toMatchObject({ message: expect.stringContaining('over its disk quota') });
    await expect(sandbox.files.list('.')).resolves.toMatchObject({ entries: [] });
  });
});
