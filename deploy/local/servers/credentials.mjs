import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { secret } from '../processes/secrets.mjs';

/** The number of executors that have a user on the NATS server of a data directory. */
const mostExecutors = 8;

/** The user who may do everything on a server that is started here. */
export const owner = 'rondo';

/**
 * @param {string} dataDir
 * @param {'postgres' | 'redis' | 'nats'} server
 * @returns {string}
 */
export function ownerPassword(dataDir, server) {
  return secret(dataDir, `${server}-password`);
}

/** A user's password on a server that is started here. It is derived from the owner's, which cannot be derived from it. */
export function toPassword(dataDir, server, user) {
  return createHmac('sha256', ownerPassword(dataDir, server)).update(user).digest('hex');
}

/**
 * The URL with this user's credentials. The URL of a server that was not started here is returned unchanged.
 *
 * @param {string} user
 * @param {{ dataDir: string, server: 'postgres' | 'redis' | 'nats', url: string }} server
 * @returns {string}
 */
export function urlFor(user, { dataDir, server, url }) {
  if (!url.includes(`:${ownerPassword(dataDir, server)}@`)) return url;
  const login = `${encodeURIComponent(user)}:${toPassword(dataDir, server, user)}`;
  return url.replace(/:\/\/[^@]*@/, `://${login}@`); // one of several hosts is no URL for Node
}

/** The file with the id of the n-th executor of a data directory. */
export function executorIdFile(dataDir, instance) {
  return join(dataDir, `${instance}-id`);
}

/**
 * An executor's id. It is generated before the executor first starts, because NATS must know it by then. Instances are
 * `tool-executor`, `tool-executor-2`, …
 *
 * @param {string} dataDir
 * @param {string} instance
 * @returns {string}
 */
export function executorId(dataDir, instance) {
  return secret(dataDir, `${instance}-id`, 'exe_');
}

export function executorInstances() {
  return Array.from({ length: mostExecutors }, (_, index) =>
    index === 0 ? 'tool-executor' : `tool-executor-${index + 1}`,
  );
}
