import { randomBytes } from 'node:crypto';
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

/** The keys of the Secret of a Helm release: those, and what only its optional parts use. */
export function newHelmSecrets() {
  const optional = ['POSTGRES_SCALER_PASSWORD', 'METRICS_TOKEN'].map(withNewValue).join('');
  return `${newComposeSecrets()}${optional}SECRETS_KEY=${randomBytes(32).toString('base64')}\n`;
}

/** A value for each. They begin with a letter, because NATS reads a value that begins with a digit as a number. */
export function newComposeSecrets() {
  return composeSecrets.map(withNewValue).join('');
}

function withNewValue(name) {
  return `${name}=${name === 'RONDO_ADMIN_KEY' ? 'rondo_' : 's'}${randomBytes(24).toString('hex')}\n`;
}
