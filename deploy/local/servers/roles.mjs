import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withClient } from './postgres-client.mjs';
import { repoRoot } from '../repo-root.mjs';

/** @typedef {'gateway' | 'agent-worker' | 'summarizer'} DatabaseService */

/**
 * The services that have a role on Postgres. tool-executor has none.
 *
 * @type {readonly DatabaseService[]}
 */
export const databaseServices = ['gateway', 'agent-worker', 'summarizer'];

const oneAtATime = 72707370; // an advisory lock, because concurrent grants conflict
const isThere = new Set(['42710', '23505']);

/**
 * The name of a service's role. It begins with the database's name, because roles belong to the whole server.
 *
 * @param {DatabaseService | 'scaler'} service
 * @param {string} database
 */
export function toRole(service, database) {
  return `${database}_${service.replaceAll('-', '_')}`;
}

/**
 * Creates a role for each service whose password is given, with the rights in prisma/grants.json on this database and no
 * others. Requires an owner who may create roles. Can be repeated at any time, also while the services run.
 *
 * @param {{ url: string, passwords: Partial<Record<DatabaseService, string>> }} request
 */
export async function grantRoles({ url, passwords }) {
  const grants = JSON.parse(readFileSync(join(repoRoot, 'prisma/grants.json'), 'utf8'));
  await withClient(url, async (client) => {
    const roles = databaseServices
      .filter((service) => passwords[service])
      .map((service) => ({ service, name: toRole(service, client.database), password: passwords[service] }));
    await client.query('select pg_advisory_lock($1)', [oneAtATime]);
    for (const { name } of roles) await create(client, name);
    // One transaction, so that running services always have their rights.
    const statements = roles.flatMap((role) => listRights(client, role, grants));
    await client.query(['begin', ...statements, 'commit'].join(';\n'));
  });
}

/**
 * Creates the role with which an autoscaler reads how many runs there are to serve, and nothing else.
 *
 * @param {{ url: string, password: string }} request
 */
export async function grantScaler({ url, password }) {
  await withClient(url, async (client) => {
    const name = toRole('scaler', client.database);
    await client.query('select pg_advisory_lock($1)', [oneAtATime]);
    await create(client, name);
    const role = client.escapeIdentifier(name);
    const login = `alter role ${role} login noinherit password ${client.escapeLiteral(password)}`;
    const rights = [`grant usage on schema public to ${role}`, `grant select on runs_to_serve to ${role}`];
    await client.query(['begin', login, ...rights, 'commit'].join(';\n'));
  });
}

async function create(client, name) {
  await client.query(`create role ${client.escapeIdentifier(name)}`).catch((error) => {
    if (!isThere.has(error.code)) throw error;
  });
}

function listRights(client, { service, name, password }, grants) {
  const role = client.escapeIdentifier(name);
  const tables = Object.entries(grants).filter(([, rights]) => rights[service]);
  return [
    `alter role ${role} login noinherit password ${client.escapeLiteral(password)}`,
    `revoke all on all tables in schema public from ${role}`,
    `revoke all on all sequences in schema public from ${role}`,
    `grant usage on schema public to ${role}`,
    ...tables.map(([table, rights]) => `grant ${rights[service]} on ${client.escapeIdentifier(table)} to ${role}`),
    `grant usage on sequence outbox_id_seq to ${role}`,
  ];
}
