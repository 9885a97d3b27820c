import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readChecksum } from './checksums';
import { S3Snapshots } from './s3-snapshots';
import { SnapshotDamaged } from './snapshot-store';
import { S3Server } from './testing/s3-server';
import { describeSnapshotStore } from './testing/snapshot-store.contract';

const storeAt = ({ endpoint, bucket, account }: S3Server, prefix = 'rondo/copies') =>
  new S3Snapshots({ bucket, prefix, endpoint, credentials: account });

describeSnapshotStore('S3', async () => {
  const server = await S3Server.start();
  return {
    store: storeAt(server),
    damage: ({ threadId, executorId }, how) => {
      const object = server.objects.get(`rondo/copies/${threadId}/${executorId}.tar.gz`);
      if (!object) throw new Error('There is no such object.');
      object.body =
        how === 'cut'
          ? object.body.subarray(0, -1)
          : Buffer.from(object.body.map((byte, at) => (at === 500 ? byte ^ 1 : byte)));
      return Promise.resolve();
    },
    close: () => server.close(),
  };
});

describe('S3Snapshots', () => {
  const key = { threadId: 'thr_1', executorId: 'exe_1' };
  let server: S3Server;
  let folder: string;
  beforeEach(async () => {
    server = await S3Server.start();
    folder = await mkdtemp(join(tmpdir(), 's3-spec-'));
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const into = () => join(folder, 'into');
  const save = async (
    content: Buffer | string,
    { store = storeAt(server), signal }: { store?: S3Snapshots; signal?: AbortSignal } = {},
  ) => {
    const file = join(folder, 'file');
    await writeFile(file, content);
    const info = { takenAt: new Date().toISOString(), labels: { account: 'acc_ä' }, ...(await readChecksum(file)) };
    await store.save(key, { file, info, ...(signal && { signal }) });
    return info;
  };

  it('send large copies in parts, which are visible only together', async () => {
    await save('before');
    const content = randomBytes(40 * 1024 * 1024);
    server.faults = Array.from({ length: 9 }, () => ({ method: 'POST', fault: 'error' as const }));
    await expect(save(content)).rejects.toThrow('InternalError');
    expect(server.objects.get('rondo/copies/thr_1/exe_1.tar.gz')?.body.toString()).toBe('before');
    server.faults = [];

    const info = await save(content);

    expect(server.requests.filter((request) => request === 'PUT part')).toHaveLength(3);
    expect(server.uploads.size).toBe(0);
    expect(await storeAt(server).fetch(key, into())).toEqual(info);
  });

  it('repeat a request that failed or whose connection was cut', async () => {
    server.faults = [
      { method: 'PUT', fault: 'error' },
      { method: 'PUT', fault: 'cut' },
      { method: 'GET', fault: 'error' },
    ];
    const info = await save('kept');

    expect(await storeAt(server).fetch(key, into())).toEqual(info);
    expect(server.faults).toEqual([]);
  });

  it('leave no file of a copy whose transfer was cut, which is not a damaged one', async () => {
    await save(randomBytes(100_000));
    server.faults = [{ method: 'GET', fault: 'cut' }];

    const fetching = storeAt(server).fetch(key, into());

    await expect(fetching).rejects.toThrow();
    await expect(fetching).rejects.not.toBeInstanceOf(SnapshotDamaged);
    expect(await readdir(folder)).not.toContain('into');
  });

  it('leave nothing of a large copy that is given up', async () => {
    const given = new AbortController();
    const saving = save(randomBytes(40 * 1024 * 1024), { signal: given.signal });
    const abort = setInterval(() => server.requests.includes('PUT part') && given.abort(), 1);

    await expect(saving).rejects.toThrow();
    clearInterval(abort);
    expect(server.objects.size).toBe(0);
  });

  it('are refused with another key, and say so', async () => {
    const { endpoint, bucket, account } = server;
    const credentials = { ...account, secretAccessKey: 'wrong' };
    const store = new S3Snapshots({ bucket, prefix: '', endpoint, credentials });

    await expect(save('x', { store })).rejects.toThrow('SignatureDoesNotMatch');
    await expect(store.fetch(key, into())).rejects.toThrow('SignatureDoesNotMatch');
  });

  it('do not take a bucket that is missing for a copy that is missing', async () => {
    const { endpoint, account } = server;
    const store = new S3Snapshots({ bucket: 'other', prefix: '', endpoint, credentials: account });

    await expect(store.fetch(key, into())).rejects.toThrow('NoSuchBucket');
  });

  it('are all removed, also where a list does not show them at once', async () => {
    for (const executorId of ['exe_1', 'exe_2', 'exe_3', 'exe_4', 'exe_5']) {
      await writeFile(join(folder, 'file'), executorId);
      const info = { takenAt: new Date().toISOString(), labels: {}, ...(await readChecksum(join(folder, 'file'))) };
      await storeAt(server).save({ ...key, executorId }, { file: join(folder, 'file'), info });
    }

    await storeAt(server).remove('thr_1');

    expect(server.objects.size).toBe(0);
  });
});
