import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { listFlaws } from '../../../deploy/local/checks/migration-rules.mjs';
import { withClient } from '../../../deploy/local/servers/postgres-client.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';
import { findVersionBefore } from '../../../deploy/local/servers/schema-versions.mjs';

const directory = join(repoRoot, 'prisma/migrations');
const migrations = readdirSync(directory, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({ name, script: readFileSync(join(directory, name, 'migration.sql'), 'utf8') }));

/** The SQL statements of the previous version, recorded by `npm run record-release`. */
const released = JSON.parse(readFileSync(join(repoRoot, 'prisma/released-statements.json'), 'utf8')) as {
  statements: string[];
};

/** The migration rewrites one table and documents how long that takes; drivers use the new type like the old one. */
const excused: Readonly<Record<string, number>> = { '20261206000000_wide_token_sums': 1 };

const flawsIn = (script: string) =>
  listFlaws({ name: '20270101000000_new', script: `SET lock_timeout = '5s';\n${script}` });

describe('migrations', () => {
  it.each(migrations.map((migration) => [migration.name, migration]))(
    '%s keeps services of the previous version working',
    (name, migration) => {
      expect(listFlaws(migration)).toHaveLength(excused[name] ?? 0);
    },
  );

  it('keep everything that the previous version’s statements use', async () => {
    const url = process.env['TEST_DATABASE_URL'] ?? '';
    const refused = await withClient(url, async (client) => {
      const flaws: string[] = [];
      for (const [index, statement] of released.statements.entries()) {
        await client.query(`prepare released_${index} as ${statement}`).catch((error: unknown) => {
          flaws.push(`${String(error)}: ${statement}`);
        });
      }
      return flaws;
    });

    expect(released.statements.length).toBeGreaterThan(100);
    expect(refused).toEqual([]);
  });
});

describe('the rights of services on Postgres', () => {
  type Grants = Record<string, Record<string, string>>;
  const read = (path: string) => JSON.parse(readFileSync(join(repoRoot, path), 'utf8')) as unknown;
  const { grants: before } = read('deploy/released-version.json') as { grants: Grants };
  const now = read('prisma/grants.json') as Grants;
  const listParts = (rights = '') => rights.split(/, (?=[a-z]+(?: \(|,|$))/);
  /** A right to update one column follows from the right to update all. */
  const isHeld = (right: string, held: readonly string[]) =>
    held.includes(right) || held.includes(right.replace(/ \(.*/, ''));

  it.each(Object.keys(before))('include those of the previous version on %s', (table) => {
    const lost = Object.entries(before[table] ?? {}).flatMap(([service, rights]) =>
      listParts(rights).filter((right) => !isHeld(right, listParts(now[table]?.[service]))),
    );

    expect(lost).toEqual([]);
  });
});

describe('the oldest version whose services may work with the schema', () => {
  it.each([
    ['before a release', '0.2.0', { version: '0.1.0' }, '0.1.0'],
    ['at it, and until the version changes', '0.2.0', { version: '0.2.0', previous: '0.1.0' }, '0.1.0'],
    ['at the first one', '0.1.0', { version: '0.1.0' }, '0.1.0'],
  ])('is that of the last release, %s', (_when, version, released, oldest) => {
    expect(findVersionBefore(version, released)).toBe(oldest);
  });
});

describe('the rules for migrations', () => {
  it.each([
    'ALTER TABLE "runs" ADD COLUMN "x" TEXT NOT NULL;',
    `ALTER TABLE "runs" ADD COLUMN "x" TEXT NOT NULL DEFAULT '', ADD COLUMN "y" INT NOT NULL;`,
    'ALTER TABLE "runs" ADD COLUMN "x" TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp();',
    'ALTER TABLE "runs" ADD CONSTRAINT "c" CHECK (x > 0);',
    'ALTER TABLE "runs" ALTER COLUMN "x" SET NOT NULL;',
    'ALTER TABLE "runs" ALTER COLUMN "x" TYPE BIGINT;',
    'ALTER TABLE "runs" DROP COLUMN "x";',
    'ALTER TABLE "runs" RENAME COLUMN "x" TO "y";',
    'CREATE INDEX "i" ON "runs"("x");',
    'CREATE INDEX CONCURRENTLY "i" ON "runs"("x");',
    'DROP TABLE "runs";',
  ])('refuse %s', (script) => {
    expect(flawsIn(script)).toHaveLength(1);
  });

  it.each([
    'ALTER TABLE "runs" ADD COLUMN "x" TEXT;',
    'ALTER TABLE "runs" ADD COLUMN "x" INT DEFAULT 0 NOT NULL;',
    'ALTER TABLE "runs" ADD CONSTRAINT "c" CHECK (x > 0) NOT VALID; ALTER TABLE "runs" VALIDATE CONSTRAINT "c";',
    'CREATE TABLE "t" ("id" TEXT NOT NULL); CREATE INDEX "i" ON "t"("id");',
    '-- contract: nothing since 20261204 reads it.\nALTER TABLE "runs" DROP COLUMN "x";',
    'GRANT SELECT ON "runs" TO "reader";',
  ])('accept %s', (script) => {
    expect(flawsIn(script)).toEqual([]);
  });

  it('require a lock timeout, and a migration of its own for an index that is created concurrently', () => {
    const name = '20270101000000_new';

    expect(listFlaws({ name, script: 'ALTER TABLE "runs" ADD COLUMN "x" TEXT;' })).toHaveLength(1);
    expect(listFlaws({ name, script: '-- Why.\nCREATE INDEX CONCURRENTLY "i" ON "runs"("x");' })).toEqual([]);
  });
});
