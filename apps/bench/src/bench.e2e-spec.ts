import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Taken } from './report/outcome';

const main = join(__dirname, '../dist/main.js');
const directory = mkdtempSync(join(tmpdir(), 'rondo-bench-'));

afterAll(() => rmSync(directory, { recursive: true }));

/** What the command prints; a failure shows it too, since it names the measure that failed. */
async function printed(args: string[]): Promise<string> {
  const ended = promisify(execFile)(process.execPath, [main, ...args]);
  const { stdout } = await ended.catch((error: unknown) => {
    throw new Error(`the bench failed\n${(error as { stdout: string }).stdout}`, { cause: error });
  });
  return stdout;
}

/** Figures mean something on a quiet machine only; here each must merely be a number. */
it('takes every measure and prints each step before it begins', async () => {
  const out = join(directory, 'bench.json');

  const stdout = await printed(['--short', '--out', out]);

  const { taken } = JSON.parse(readFileSync(out, 'utf8')) as { taken: Taken[] }; // the bench wrote it
  const measures = taken.map(({ measure }) => measure);
  expect(measures).toEqual([
    'tokens',
    'turns',
    'gap',
    'start',
    'light',
    'run-cost',
    'streams',
    'growth',
    'facades',
    'idle',
    'memory',
    'recovery',
  ]);
  const figures = taken.flatMap(({ outcomes }) => outcomes);
  expect(figures.filter(({ rondo }) => typeof rondo.median !== 'number')).toEqual([]);
  const [first, ...others] = measures;
  const announced = [first, 'start of Rondo', 'warm-up of bare, 1 s', 'warm-up of rondo, 1 s', ...others];
  expect([...stdout.matchAll(/^ {2}… (.*)$/gm)].map(([, step]) => step)).toEqual(announced);
}, 900_000);
