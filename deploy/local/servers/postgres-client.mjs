import { createRequire } from 'node:module';
import { readGivenAuthorities } from './given-authorities.mjs';

const databaseIsMissing = '3D000';
const madeByAnother = new Set(['42P04', '23505']);

/**
 * Connects, runs `use` and disconnects.
 *
 * @template T
 * @param {string} connectionString
 * @param {(client: import('pg').Client) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withClient(connectionString, use) {
  const { Client } = createRequire(import.meta.url)('pg'); // imported late, because a fresh clone has no packages yet
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000 });
  const { ssl } = client.connectionParameters;
  if (typeof ssl === 'object') ssl.ca ??= readGivenAuthorities();
  client.on('error', () => undefined); // the query in progress rejects with the same error
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

export function isDatabaseMissing(error) {
  return error.code === databaseIsMissing;
}

/** Creates the URL's database unless it exists; several processes may call it at once. */
export async function createDatabase(url) {
  const maintenance = new URL(url);
  const name = decodeURIComponent(maintenance.pathname.slice(1));
  maintenance.pathname = '/postgres';
  await withClient(maintenance.href, async (client) => {
    await client.query(`create database ${client.escapeIdentifier(name)}`).catch((error) => {
      if (!madeByAnother.has(error.code)) throw error;
    });
  });
}
