import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whileLocked } from './runner-lock';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'rondo-lock-'))));
afterEach(() => rmSync(folder, { recursive: true }));

describe('the lock of an evaluation', () => {
  it('is held in a folder that did not exist, and released also after an error', async () => {
    const path = join(folder, 'output/validation/a.jsonl');

    await expect(whileLocked(path, () => Promise.resolve(existsSync(`${path}.lock`)))).resolves.toBe(true);
    await expect(whileLocked(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');

    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('keeps a second runner out, and names the first', async () => {
    const path = join(folder, 'a.jsonl');
    const second = () => whileLocked(path, () => Promise.resolve());

    await expect(whileLocked(path, second)).rejects.toThrow(`Process ${process.pid} runs this evaluation.`);
  });

  it('is taken over from a process that has ended', async () => {
    const path = join(folder, 'a.jsonl');
    writeFileSync(`${path}.lock`, String(spawnSync('true').pid));

    await expect(whileLocked(path, () => Promise.resolve('ran'))).resolves.toBe('ran');
  });
});
