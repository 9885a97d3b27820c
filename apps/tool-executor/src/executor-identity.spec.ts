import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExecutorIdentity, startOfProcess } from './executor-identity';

describe('ExecutorIdentity', () => {
  let directory: string;
  let file: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'identity-spec-'));
    file = join(directory, 'deep', 'executor-id');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('generates an id at the first start and reuses it at the next', async () => {
    const first = await ExecutorIdentity.assume(file, { generate: () => 'exe_1' });
    await first.release();
    const second = await ExecutorIdentity.assume(file, { generate: () => 'exe_2' });

    expect([first.id, second.id]).toEqual(['exe_1', 'exe_1']);
  });

  it('refuses a second executor while the first is alive', async () => {
    await ExecutorIdentity.assume(file, { generate: () => 'exe_1' });

    await expect(ExecutorIdentity.assume(file, { generate: () => 'exe_2' })).rejects.toThrow(
      `Process ${process.pid} is running as this executor already`,
    );
  });

  it('starts after an executor that was killed', async () => {
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    const lock = JSON.stringify({ pid: other.pid, startedAt: startOfProcess(Number(other.pid)) });
    await ExecutorIdentity.assume(file, { generate: () => 'exe_1' });
    await writeFile(`${file}.lock`, lock);
    await expect(ExecutorIdentity.assume(file, { generate: () => 'exe_2' })).rejects.toThrow(`Process ${other.pid}`);

    other.kill('SIGKILL');
    await once(other, 'exit');

    await expect(ExecutorIdentity.assume(file, { generate: () => 'exe_2' })).resolves.toMatchObject({ id: 'exe_1' });
  });

  it('starts when another process has the pid of the dead executor', async () => {
    await ExecutorIdentity.assume(file, { generate: () => 'exe_1' });
    await writeFile(`${file}.lock`, JSON.stringify({ pid: process.pid, startedAt: 'another boot' }));

    await expect(ExecutorIdentity.assume(file, { generate: () => 'exe_2' })).resolves.toMatchObject({ id: 'exe_1' });
  });

  it('refuses a file without a valid id, and releases the lock', async () => {
    const identity = await ExecutorIdentity.assume(file, { generate: () => 'exe_1' });
    await identity.release();
    await writeFile(file, 'a > b.*');

    const attempt = () => ExecutorIdentity.assume(file, { generate: () => 'exe_2' });
    await expect(attempt()).rejects.toThrow('does not contain the id of an executor');
    await expect(attempt()).rejects.toThrow('does not contain the id of an executor');
  });

  it('stores a configured id and reuses it', async () => {
    const identity = await ExecutorIdentity.assume(file, { requested: 'tool-executor', generate: () => 'exe_1' });
    await identity.release();

    expect(identity.id).toBe('tool-executor');
    await expect(ExecutorIdentity.assume(file, { generate: () => 'exe_2' })).resolves.toMatchObject({
      id: 'tool-executor',
    });
  });

  it('refuses a configured id other than the stored one, by which threads are placed', async () => {
    const identity = await ExecutorIdentity.assume(file, { generate: () => 'exe_1' });
    await identity.release();

    const other = ExecutorIdentity.assume(file, { requested: 'tool-executor', generate: () => 'exe_2' });

    await expect(other).rejects.toThrow('contains the id exe_1, by which threads are placed');
  });
});
