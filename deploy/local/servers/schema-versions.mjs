import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../repo-root.mjs';
import { withClient } from './postgres-client.mjs';

/** Notes in a migrated database which version this is, and which is the oldest whose services may work with its schema. */
export async function recordSchemaVersion(url) {
  const { version } = read('package.json');
  const oldest = findVersionBefore(version, read('deploy/released-version.json'));
  const statement = 'insert into schema_versions (version, oldest_service) values ($1, $2) on conflict do nothing';
  await withClient(url, (client) => client.query(statement, [version, oldest]));
}

/**
 * The release before a version. What was recorded at its own release names it; until then the last record is of that release.
 *
 * @param {string} version
 * @param {{ version: string, previous?: string }} released
 */
export const findVersionBefore = (version, released) =>
  released.version === version ? (released.previous ?? version) : released.version;

const read = (path) => JSON.parse(readFileSync(join(repoRoot, path), 'utf8'));
