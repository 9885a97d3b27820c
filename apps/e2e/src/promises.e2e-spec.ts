import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

const document = readFileSync(join(repoRoot, 'docs/reliability.md'), 'utf8');

/** The table's rows: a promise's name, and the tests that it names. */
const promises = [...document.matchAll(/^\| (I\d+) \|.*$/gm)].map(([row, name = '']) => ({
  name,
  tests: [...row.matchAll(/`([^`]+spec\.ts)`/g)].map(([, path = '']) => path),
}));

/** `I1–I5` cites I3 as well. */
const cites = (source: string, name: string): boolean =>
  [...source.matchAll(/\bI(\d+)(?:–I(\d+))?\b/g)].some(([, from, to = from]) => {
    const number = Number(name.slice(1));
    return Number(from) <= number && number <= Number(to);
  });

describe('docs/reliability.md', () => {
  it('names every promise once', () => {
    expect(promises.map(({ name }) => name)).toEqual(Array.from({ length: 13 }, (_, index) => `I${index + 1}`));
  });

  it.each(promises.flatMap(({ name, tests }) => tests.map((test) => [name, test] as const)))(
    '%s is cited by %s',
    (name, test) => {
      expect(cites(readFileSync(join(repoRoot, test), 'utf8'), name)).toBe(true);
    },
  );
});
