import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

const run = promisify(execFile);

interface Taken {
  readonly measure: string;
  readonly outcomes: readonly { readonly title: string; readonly rondo: { readonly median: number | null } }[];
}

/** What a figure is worth only a quiet machine can tell; here they must all be there. */
it('takes every measure and prints each step before it begins', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rondo-bench-'));
  const out = join(directory, 'bench.json');

  const bench = join(repoRoot, 'apps/bench/dist/main.js');
  const { stdout } = await run(process.execPath, [bench, '--short', '--out', out], { cwd: repoRoot });

  const { taken } = JSON.parse(readFileSync(out, 'utf8')) as { taken: Taken[] };
  const measures = taken.map(({ measure }) => measure);
  expect(measures).toEqual(['turns', 'gap', 'first-token', 'tokens', 'growth', 'memory', 'recovery']);
  const figures = taken.flatMap(({ outcomes }) => outcomes);
  expect(figures.filter(({ rondo }) => typeof rondo.median !== 'number')).toEqual([]);
  const announced = ['start of Rondo', 'warm-up of bare, 1 s', 'warm-up of rondo, 1 s', ...measures];
  expect([...stdout.matchAll(/^ {2}… (.*)$/gm)].map(([, step]) => step)).toEqual(announced);
  rmSync(directory, { recursive: true });
}, 300_000);
