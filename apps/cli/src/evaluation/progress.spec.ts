import { PassThrough } from 'node:stream';
import { Terminal } from '../terminal';
import { durationText, openTaskLog, Progress } from './progress';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function screen(isTTY: boolean) {
  const errors = Object.assign(new PassThrough(), { isTTY, columns: 70 });
  const terminal = new Terminal(
    { input: new PassThrough(), output: new PassThrough(), errors },
    { json: false, colour: false },
  );
  return { terminal, shown: () => String(errors.read() ?? '') };
}

const right = { name: 'a', outcome: 'right', costUsd: 0.01, isProblem: false };
const failed = { name: 'b', outcome: 'timeout: too late', costUsd: null, isProblem: true };

describe('the progress of an evaluation', () => {
  it('is a line for each step where there is no terminal', () => {
    const { terminal, shown } = screen(false);
    const progress = new Progress(terminal, 3, { concurrency: 2 });

    progress.showResult(right);
    progress.showResult(failed);
    progress.end();

    expect(shown()).toMatch(
      /^1\/3 a: right · \$0\.0100, about \$0\.03 in all\n2\/3 b: timeout: too late · \$0\.0100, about \$0\.03 in all · about \d+ s left\n$/,
    );
  });

  it.each([true, false])(
    'is only what went wrong where it is to be quiet, and whole in its log (terminal: %s)',
    (isTTY) => {
      const { terminal, shown } = screen(isTTY);
      const lines: string[] = [];
      const progress = new Progress(terminal, 2, { concurrency: 1, isQuiet: true, log: (line) => lines.push(line) });

      progress.showResult(right);
      progress.showResult(failed);
      progress.end();

      expect(shown().replaceAll('\r\u001b[K', '')).toBe('b: timeout: too late\n');
      expect(lines).toEqual([
        expect.stringMatching(/^1\/2 a: right · \$0\.0100, about \$0\.02 in all · about \d+ s left$/),
        '2/2 b: timeout: too late · $0.0100',
      ]);
    },
  );

  it('is a bar on a terminal, no longer than it is wide, with problems above it', () => {
    const { terminal, shown } = screen(true);
    const progress = new Progress(terminal, 2, { concurrency: 1 });
    progress.showResult(right);
    progress.showResult(failed);
    progress.end();

    const lines = shown().split('\r\u001b[K');

    const half: unknown = expect.stringMatching(/^█{12}░{12} 1\/2 · \d+ s so far · \$0\.01/);
    expect(lines).toEqual([
      '',
      expect.stringMatching(/^░{24} 0\/2 · \d+ s so far$/),
      half,
      expect.stringMatching(/^b: timeout: too late\n█{12}░{12} 1\/2 · /),
      expect.stringMatching(/^█{24} 2\/2 · 1 problem · \d+ s so far · \$0\.0100$/),
      '',
    ]);
    expect(Math.max(...lines.map((line) => line.split('\n').at(-1)?.length ?? 0))).toBeLessThan(70);
  });

  it.each([
    [0, '0 s'],
    [59_001, '1 min'],
    [61_000, '2 min'],
    [3_600_000, '1 h 0 min'],
    [5_430_000, '1 h 31 min'],
  ])('%i ms are %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});

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
