import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { secret } from './secrets.mjs';

/** So many executors have a name and a password on the NATS server of a data directory. */
const mostExecutors = 8;

/** What its owner logs in to a server with that is started here. */
export const owner = 'rondo';

export function ownerPassword(dataDir, server) {
  return secret(dataDir, `${server}-password`);
}

/** A user's password on a server that is started here. It follows from the owner's, which does not follow from it. */
export function passwordOf(dataDir, server, user) {
  return createHmac('sha256', ownerPassword(dataDir, server)).update(user).digest('hex');
}

/** The URL by which this user reaches the server; a server that was not started here is used as it was given. */
export function urlFor(user, { dataDir, server, url }) {
  const login = new URL(url);
  if (login.password !== ownerPassword(dataDir, server)) return url;
  login.username = user;
  login.password = passwordOf(dataDir, server, user);
  return login.href;
}

/** Where the n-th executor of a data directory keeps its id. */
export function executorIdFile(dataDir, instance) {
  return join(dataDir, `${instance}-id`);
}

/** An executor's id, made here before the executor first starts: NATS must know it by then. */
export function executorId(dataDir, instance) {
  return secret(dataDir, `${instance}-id`, 'exe_');
}

export function executorInstances() {
  return Array.from({ length: mostExecutors }, (_, index) =>
    index === 0 ? 'tool-executor' : `tool-executor-${index + 1}`,
  );
}
