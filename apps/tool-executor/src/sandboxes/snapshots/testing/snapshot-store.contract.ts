import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readChecksum } from '../checksums';
import { SnapshotDamaged, type SnapshotInfo, type SnapshotKey, type SnapshotStore } from '../snapshot-store';

/** A store of its own for one test. */
export interface SnapshotStoreFixture {
  readonly store: SnapshotStore;
  /** Changes what is stored behind the store's back: the end of the file is missing, or one byte is another. */
  damage(key: SnapshotKey, how: 'cut' | 'changed'): Promise<void>;
  close(): Promise<void>;
}

const newKey = (): SnapshotKey => ({ threadId: `thr_${randomUUID()}`, executorId: 'exe_1' });

/** What every store of copies promises. */
export function describeSnapshotStore(name: string, makeFixture: () => Promise<SnapshotStoreFixture>): void {
  describe(`${name} snapshots`, () => {
    let fixture: SnapshotStoreFixture;
    let folder: string;
    beforeEach(async () => {
      fixture = await makeFixture();
      folder = await mkdtemp(join(tmpdir(), 'snapshots-spec-'));
    });
    afterEach(async () => {
      await fixture.close();
      await rm(folder, { recursive: true });
    });

    const save = async (key: SnapshotKey, content: Buffer | string, signal?: AbortSignal): Promise<SnapshotInfo> => {
      const file = join(folder, randomUUID());
      await writeFile(file, content);
      const labels = { account: 'acc_1', thread: key.threadId };
      const info = { takenAt: new Date().toISOString(), labels, ...(await readChecksum(file)) };
      await fixture.store.save(key, { file, info, ...(signal && { signal }) });
      return info;
    };
    const fetch = async (key: SnapshotKey) => {
      const into = join(folder, randomUUID());
      const info = await fixture.store.fetch(key, into);
      return info && { info, content: await readFile(into) };
    };
    const findContent = async (key: SnapshotKey) => (await fetch(key))?.content.toString();

    it('give back what was saved, byte by byte', async () => {
      const key = newKey();
      const content = randomBytes(20_000_000);
      const info = await save(key, content);

      const fetched = await fetch(key);

      expect(fetched?.info).toEqual(info);
      expect(fetched?.content.equals(content)).toBe(true);
    });

    it('keep an empty file too', async () => {
      const key = newKey();
      await save(key, '');

      expect(await findContent(key)).toBe('');
    });

    it('have none of what was not saved, and write no file then', async () => {
      await expect(fixture.store.fetch(newKey(), join(folder, 'none'))).resolves.toBeUndefined();

      expect(await readdir(folder)).toEqual([]);
    });

    it('are replaced by the next of the same executor', async () => {
      const key = newKey();
      await save(key, 'one');
      await save(key, 'two');

      expect(await findContent(key)).toBe('two');
    });

    it('are each executor’s own', async () => {
      const one = newKey();
      const other = { ...one, executorId: 'exe_2' };
      await Promise.all([save(one, 'of one'), save(other, 'of another')]);
      expect([await findContent(one), await findContent(other)]).toEqual(['of one', 'of another']);

      await fixture.store.remove(one.threadId, one.executorId);
      expect([await findContent(one), await findContent(other)]).toEqual([undefined, 'of another']);
    });

    it('are removed for all executors at once', async () => {
      const one = newKey();
      const others = [{ ...one, executorId: 'exe_2' }, newKey()] as const;
      for (const key of [one, ...others]) await save(key, 'x');

      await fixture.store.remove(one.threadId);
      await fixture.store.remove(one.threadId);

      expect(await Promise.all([one, ...others].map(findContent))).toEqual([undefined, undefined, 'x']);
    });

    it('are whole when two are saved at the same time', async () => {
      const key = newKey();
      const contents = [randomBytes(3_000_000), randomBytes(2_000_000)] as const;
      await Promise.allSettled(contents.map((content) => save(key, content)));

      const fetched = await fetch(key);
      expect(contents.some((content) => fetched?.content.equals(content))).toBe(true);
    });

    it('stay as they were when a save is given up', async () => {
      const key = newKey();
      await save(key, 'kept');
      await expect(save(key, randomBytes(1_000_000), AbortSignal.abort())).rejects.toThrow();

      expect(await findContent(key)).toBe('kept');
    });

    it.each(['cut', 'changed'] as const)('that are damaged are not restored: %s', async (how) => {
      const key = newKey();
      await save(key, randomBytes(100_000));
      await fixture.damage(key, how);

      await expect(fixture.store.fetch(key, join(folder, 'damaged'))).rejects.toThrow(SnapshotDamaged);
      expect(await readdir(folder)).not.toContain('damaged');
    });
  });
}
