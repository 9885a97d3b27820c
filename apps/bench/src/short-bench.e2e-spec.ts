import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Taken } from './report/outcome';

const main = join(__dirname, '../dist/main.js');

const directory = mkdtempSync(join(tmpdir(), 'bench-short-'));
afterAll(() => rmSync(directory, { recursive: true }));

it('measures both sides, and says what it is at', async () => {
  const out = join(directory, 'bench.json');

  const args = [main, '--short', '--only', 'turns,first-token', '--out', out];
  const { stdout } = await promisify(execFile)(process.execPath, args);

  const steps = [...stdout.matchAll(/^ {2}([…✓]) (.*?)(?: {2,}.*)?$/gm)].map(([, mark, name]) => `${mark} ${name}`);
  const expected = ['start of Rondo', 'warm-up of bare, 1 s', 'warm-up of rondo, 1 s', 'turns', 'first-token'];
  expect(steps).toEqual(expected.flatMap((name) => [`… ${name}`, `✓ ${name}`]));

  const { taken } = JSON.parse(readFileSync(out, 'utf8')) as { taken: Taken[] }; // the bench wrote it
  const found = taken.flatMap(({ outcomes }) => outcomes.map(({ rondo, bare }) => [rondo.median, bare?.median]));
  expect(found.length).toBeGreaterThanOrEqual(3);
  for (const value of found.flat()) expect(value).toBeGreaterThan(0);
});
