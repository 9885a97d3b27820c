import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assumeIdentity } from './executor-identity';
import { startOfProcess } from './start-of-process';

describe('assumeIdentity', () => {
  let directory: string;
  let file: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'identity-spec-'));
    file = join(directory, 'deep', 'executor-id');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('takes a new name at the first start and keeps it at the next', async () => {
    const first = await assumeIdentity(file, { mint: () => 'exe_1' });
    await first.release();
    const second = await assumeIdentity(file, { mint: () => 'exe_2' });

    expect([first.id, second.id]).toEqual(['exe_1', 'exe_1']);
  });

  it('refuses a second executor while the first is alive', async () => {
    await assumeIdentity(file, { mint: () => 'exe_1' });

    await expect(assumeIdentity(file, { mint: () => 'exe_2' })).rejects.toThrow(
      `Process ${process.pid} is running as this executor already`,
    );
  });

  it('follows one that was killed', async () => {
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    const lock = JSON.stringify({ pid: other.pid, startedAt: startOfProcess(Number(other.pid)) });
    await assumeIdentity(file, { mint: () => 'exe_1' });
    await writeFile(`${file}.lock`, lock);
    await expect(assumeIdentity(file, { mint: () => 'exe_2' })).rejects.toThrow(`Process ${other.pid}`);

    other.kill('SIGKILL');
    await once(other, 'exit');

    await expect(assumeIdentity(file, { mint: () => 'exe_2' })).resolves.toMatchObject({ id: 'exe_1' });
  });

  it('is not fooled by a process that has got the number of a dead one', async () => {
    await assumeIdentity(file, { mint: () => 'exe_1' });
    await writeFile(`${file}.lock`, JSON.stringify({ pid: process.pid, startedAt: 'another life' }));

    await expect(assumeIdentity(file, { mint: () => 'exe_2' })).resolves.toMatchObject({ id: 'exe_1' });
  });

  it('refuses a file that holds something else, and lets go of it', async () => {
    const { release } = await assumeIdentity(file, { mint: () => 'exe_1' });
    await release();
    await writeFile(file, 'a > b.*');

    const attempt = () => assumeIdentity(file, { mint: () => 'exe_2' });
    await expect(attempt()).rejects.toThrow('does not hold the id of an executor');
    await expect(attempt()).rejects.toThrow('does not hold the id of an executor');
  });

  it('takes the id that it is given, and keeps it', async () => {
    const { id, release } = await assumeIdentity(file, { given: 'tool-executor', mint: () => 'exe_1' });
    await release();

    expect(id).toBe('tool-executor');
    await expect(assumeIdentity(file, { mint: () => 'exe_2' })).resolves.toMatchObject({ id: 'tool-executor' });
  });

  it('refuses another id than the one by which its threads are placed', async () => {
    const { release } = await assumeIdentity(file, { mint: () => 'exe_1' });
    await release();

    const other = assumeIdentity(file, { given: 'tool-executor', mint: () => 'exe_2' });

    await expect(other).rejects.toThrow('holds the id exe_1, by which threads are placed');
  });
});
