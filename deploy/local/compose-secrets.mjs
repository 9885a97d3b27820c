import { randomBytes } from 'node:crypto';

const services = ['GATEWAY', 'AGENT_WORKER', 'SUMMARIZER'];

/** What docker-compose.yml will not start without. None of it has a default. */
export const composeSecrets = [
  'RONDO_ADMIN_KEY',
  'POSTGRES_PASSWORD',
  ...services.map((service) => `POSTGRES_${service}_PASSWORD`),
  'REDIS_PASSWORD',
  ...[...services, 'TOOL_EXECUTOR'].map((service) => `NATS_${service}_PASSWORD`),
];

/** A value for each. They begin with a letter, since NATS reads what begins with a digit as a number. */
export function newComposeSecrets() {
  return composeSecrets
    .map((name) => `${name}=${name === 'RONDO_ADMIN_KEY' ? 'rondo_' : 's'}${randomBytes(24).toString('hex')}\n`)
    .join('');
}
