import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const source = join(__dirname, '..');

/** Outside of the run log, with the reason in `docs/sql.md`. */
const hot = ['api/billing/reservations.ts', 'api/runs/insert-run.ts', 'api/runs/promote-run.ts'];
/** They declare `query`, or hold a connection of their own. */
const technique = ['configure-connection.ts', 'database.ts', 'liveness-lock.ts', 'sql.ts'].map(
  (name) => `database/${name}`,
);

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !/\.spec\.ts$|^(generated|testing|run-log|run-store)\//.test(path));

describe('the rows of a statement', () => {
  it('are declared by a type only where a statement is hot', () => {
    const declaring = files.filter((path) => /\.query</.test(readFileSync(join(source, path), 'utf8')));
    const named = [...hot, ...technique.filter((path) => declaring.includes(path))];

    expect(declaring.sort()).toEqual(named.sort());
  });
});
