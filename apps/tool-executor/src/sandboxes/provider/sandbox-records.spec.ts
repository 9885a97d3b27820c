import fs, { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SandboxRecords, countRunningMs } from './sandbox-records';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'records-spec-'));
});
afterEach(() => rm(root, { recursive: true }));

describe('SandboxRecords', () => {
  it('know after a restart when a sandbox was used', async () => {
    const records = new SandboxRecords(root);
    await records.recordCreation('thr_1');
    await records.recordUse('thr_1', Date.parse('2026-01-02T03:04:05Z'));

    expect(await new SandboxRecords(root).read('thr_1')).toMatchObject({ usedAt: '2026-01-02T03:04:05.000Z' });
    expect(await new SandboxRecords(root).threads()).toEqual(['thr_1']);
  });

  it('write nothing of a thread that has no sandbox', async () => {
    const records = new SandboxRecords(root);
    await records.recordUse('thr_1');

    expect(await records.threads()).toEqual([]);
    await records.recordCreation('thr_1');
    expect(await records.read('thr_1')).toMatchObject({ exists: true, usedAt: expect.any(String) });
  });

  it('leave nothing behind that could not be written', async () => {
    const records = new SandboxRecords(root);
    await records.recordCreation('thr_1');
    const before = await readdir(join(root, '.records'));
    jest.spyOn(fs, 'rename').mockRejectedValueOnce(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));

    await expect(records.recordUse('thr_1')).rejects.toMatchObject({ code: 'ENOSPC' });

    expect(await readdir(join(root, '.records'))).toEqual(before);
    jest.restoreAllMocks();
  });

  it('write a use once a minute', async () => {
    const records = new SandboxRecords(root);
    await records.recordCreation('thr_1');
    const at = Date.parse('2026-01-02T03:04:05Z');

    for (const seconds of [0, 1, 59]) await records.recordUse('thr_1', at + seconds * 1_000);
    expect(await records.read('thr_1')).toMatchObject({ usedAt: '2026-01-02T03:04:05.000Z' });

    await records.recordUse('thr_1', at + 60_000);
    expect(await records.read('thr_1')).toMatchObject({ usedAt: '2026-01-02T03:05:05.000Z' });
  });

  it('tell of a deletion once, and again where the call is repeated', async () => {
    const records = new SandboxRecords(root);
    await records.recordCreation('thr_1');
    await records.recordUse('thr_1', Date.now() - 3_600_000);
    await records.deleting('thr_1', 'unused');
    expect(await records.read('thr_1')).toMatchObject({ deletion: { isDone: false } });
    await records.recordDeletion('thr_1');

    const told = await records.toTell('thr_1', 'call_1');
    expect(told).toMatchObject({ reason: 'unused', isDone: true });
    expect(told?.unusedMs).toBeGreaterThanOrEqual(3_600_000);
    expect(await new SandboxRecords(root).toTell('thr_1', 'call_1')).toMatchObject({ reason: 'unused' });
    expect(await records.toTell('thr_1', 'call_2')).toBeUndefined();
    expect(await records.toTell('thr_1', 'call_1')).toBeUndefined();
  });

  it('add up how long a sandbox has run', async () => {
    const records = new SandboxRecords(root);
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    await records.recordStart('thr_1', hourAgo);
    await records.recordStop('thr_1', hourAgo, 4_096);
    const first = await records.read('thr_1');
    await records.recordStart('thr_1', new Date().toISOString());

    expect(first).toMatchObject({ exists: true, diskBytes: 4_096 });
    expect(first?.runningSince).toBeUndefined();
    expect(Math.round((first?.runningMs ?? 0) / 60_000)).toBe(60);
    expect(await records.read('thr_1')).toMatchObject({
      runningMs: first?.runningMs,
      runningSince: expect.any(String),
    });
  });

  it('count what ran when the executor was killed until it was last seen, and an end that comes late not twice', async () => {
    const records = new SandboxRecords(root);
    const [started, again] = ['2026-01-02T03:00:00.000Z', '2026-01-03T03:00:00.000Z'];
    await records.recordStart('thr_1', started);
    await records.recordUse('thr_1', Date.parse('2026-01-02T03:10:00.000Z'));
    const seen = await records.read('thr_1');
    expect(countRunningMs(seen ?? { runningMs: 0 }, Date.parse(seen?.seenAt ?? ''))).toBe(0);

    await new SandboxRecords(root).recordStart('thr_1', again);
    await records.recordStop('thr_1', started, 10);

    expect(await records.read('thr_1')).toMatchObject({ runningSince: again, runningMs: 0, diskBytes: 10 });
  });

  it('bring back no record that was removed', async () => {
    const records = new SandboxRecords(root);
    await records.recordStart('thr_1', new Date().toISOString());
    await records.remove('thr_1');

    await Promise.all([
      records.recordStop('thr_1', 'then', 1),
      records.recordSight('thr_1'),
      records.recordArchive('thr_1', 1),
    ]);

    expect(await records.threads()).toEqual([]);
  });

  it('count one that a power cut has torn as missing', async () => {
    const records = new SandboxRecords(root);
    await records.recordCreation('thr_1');
    await writeFile(join(root, '.records', 'thr_1.json'), '{"usedAt": "20');

    expect(await records.read('thr_1')).toBeUndefined();
    await records.recordCreation('thr_1');
    expect(await records.read('thr_1')).toMatchObject({ exists: true });
  });

  it('leave no draft behind, whatever is written at the same time', async () => {
    const records = new SandboxRecords(root);

    await records.recordCreation('thr_1');
    await Promise.all([...Array(20).keys()].map((minute) => records.recordUse('thr_1', minute * 60_000)));
    await Promise.all([
      records.deleting('thr_1', 'request'),
      records.recordDeletion('thr_1'),
      records.recordCreation('thr_1'),
    ]);

    expect(await records.read('thr_1')).toMatchObject({ exists: true, deletion: { isDone: true } });
    expect(await readdir(join(root, '.records'))).toEqual(['thr_1.json']);
  });

  it('refuse a thread id that is a path', async () => {
    await expect(new SandboxRecords(root).read('../elsewhere')).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
