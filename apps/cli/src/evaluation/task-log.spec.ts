import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTaskLog } from './task-log';

const folder = mkdtempSync(join(tmpdir(), 'rondo-task-log-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the log of an evaluation', () => {
  it('gets lines with their times, after what it has, in a folder that is made', () => {
    const path = join(folder, 'logs/gaia.txt');

    openTaskLog(path)('1/2 a: right');
    openTaskLog(path)('2/2 b: two\nlines');

    expect(readFileSync(path, 'utf8').split('\n')).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z 1\/2 a: right$/),
      expect.stringMatching(/Z 2\/2 b: two lines$/),
      '',
    ]);
  });

  it('is refused at once where it cannot be', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => openTaskLog(join(folder, 'file', 'log.txt'))).toThrow(/ENOTDIR|EEXIST/);
  });
});
