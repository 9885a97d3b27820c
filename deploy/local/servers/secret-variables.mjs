import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { databaseServices } from './roles.mjs';

/** The variable with a user's password on a server, such as NATS_AGENT_WORKER_PASSWORD. */
export const passwordVariable = (server, user) => `${server}_${user.toUpperCase().replaceAll('-', '_')}_PASSWORD`;

/** The variables that docker-compose.yml requires. None has a default. */
export const composeSecrets = [
  'RONDO_ADMIN_KEY',
  'POSTGRES_PASSWORD',
  ...databaseServices.map((service) => passwordVariable('POSTGRES', service)),
  'REDIS_PASSWORD',
  ...[...databaseServices, 'tool-executor'].map((service) => passwordVariable('NATS', service)),
];

/** The part of SECRETS_KEY, one key or several, that a service needs for one use. libs/platform derives the same. */
export const secretsKeyFor = (use, keys) =>
  keys
    .split(',')
    .map((key) => Buffer.from(hkdfSync('sha256', Buffer.from(key, 'base64'), '', `rondo secrets ${use}`, 32)))
    .map((derived) => `${use}:${derived.toString('base64')}`)
    .join(',');

const executorSecret = 'NATS_EXECUTOR_SECRET';

/**
 * The password of an executor on NATS: HMAC-SHA256 of its id, so that passwords of further executors can be made later from the
 * same secret, and the password of one says nothing about that of another. It begins with a letter.
 */
export const executorPassword = (secret, id) => `s${createHmac('sha256', secret).update(id).digest('hex')}`;

/**
 * The keys of the Secret of a Helm release, as lines of an environment file: what Compose requires, but for the executors, which
 * have a password each, and what only optional parts use. `kept` is such a file from before, whose values stay.
 */
export function newHelmSecrets({ release = 'rondo', executors = 4, kept = '' } = {}) {
  const before = new Map(variablesIn(kept));
  const names = [
    ...composeSecrets.filter((name) => name !== passwordVariable('NATS', 'tool-executor')),
    'POSTGRES_SCALER_PASSWORD',
    'NATS_CLUSTER_PASSWORD',
    'METRICS_TOKEN',
    executorSecret,
  ];
  const values = new Map(names.map((name) => [name, before.get(name) ?? newValue(name)]));
  values.set('SECRETS_KEY', before.get('SECRETS_KEY') ?? randomBytes(32).toString('base64'));
  values.set('MCP_SECRETS_KEY', secretsKeyFor('mcp', values.get('SECRETS_KEY')));
  for (let index = 0; index < executors; index++) {
    const id = `${release}-tool-executor-${index}`;
    values.set(passwordVariable('NATS', id), executorPassword(values.get(executorSecret), id));
  }
  return [...new Map([...before, ...values])].map(([name, value]) => `${name}=${value}\n`).join('');
}

const variablesIn = (text) =>
  text
    .split('\n')
    .filter((line) => line.includes('='))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);

/** A value for each. They begin with a letter, because NATS reads a value that begins with a digit as a number. */
export function newComposeSecrets() {
  return composeSecrets.map((name) => `${name}=${newValue(name)}\n`).join('');
}

const newValue = (name) => `${name === 'RONDO_ADMIN_KEY' ? 'rondo_' : 's'}${randomBytes(24).toString('hex')}`;
