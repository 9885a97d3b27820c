import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../repo-root.mjs';

/**
 * Which variables reach which service, for every way of starting: `npm start`, Compose and the chart. A service gets what its
 * schema declares and what its runtime reads, and nothing else, so that a secret reaches only the services that use it.
 */

/** The file with the variables that each service declares, which `npm run docs` writes from the schemas. */
export const declaredFile = 'deploy/service-variables.json';

/** What Node itself reads, and what says how the network is. */
export const runtimeVariables = ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'TZ', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];

/** What libraries of a service read: only tool-executor uses the AWS SDK with what the SDK finds, for the bucket of workspaces. */
const libraryVariables = {
  'tool-executor': [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_REGION',
    'AWS_DEFAULT_REGION',
    'AWS_PROFILE',
    'AWS_CONFIG_FILE',
    'AWS_SHARED_CREDENTIALS_FILE',
    'AWS_ROLE_ARN',
    'AWS_ROLE_SESSION_NAME',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
    'AWS_EC2_METADATA_DISABLED',
    'AWS_CA_BUNDLE',
  ],
};

const addresses = ['HOST', 'PORT', 'DATABASE_URL', 'REDIS_URL', 'NATS_URL', 'NATS_PASSWORD_FILE'];
const facts = ['RONDO_ADMIN_KEY', 'SECRETS_KEY', 'DEMO_MODEL_URL', 'MODEL_KEYS_PRESENT', 'EXECUTOR_ID'];
const places = ['EXECUTOR_ID_FILE', 'SANDBOX_ROOT', 'BWRAP_PATH', 'BROWSER_PATH'];

/** What each way of starting decides itself, by the variable; a value from outside is not passed on as it is. */
const decidedBy = {
  'npm start': [...addresses, ...facts, ...places, 'PREVIEW_URL'],
  compose: [...addresses, ...facts, ...places, 'NODE_ENV', 'SANDBOX_REQUIRE_LIMITS'],
  chart: [...addresses, ...facts, 'METRICS_TOKEN', 'WORKER_ID', 'RUN_CONCURRENCY', 'DRAIN_MS', 'TOOL_DRAIN_S'],
};

/**
 * Whether a way of starting decides a variable itself.
 *
 * @typedef {'npm start' | 'compose' | 'chart'} WayOfStarting
 *
 * @param {WayOfStarting} way
 * @param {string} name
 */
export const isDecidedBy = (way, name) => decidedBy[way].includes(name);

/**
 * The variables that a way of starting passes on to each service, by service.
 *
 * @param {WayOfStarting} way
 * @returns {Record<import('./services.mjs').ServiceName, string[]>}
 */
export function listPassedVariables(way) {
  return Object.fromEntries(
    Object.entries(readDeclared()).map(([service, names]) => [service, toPassed(way, { service, names })]),
  );
}

const readDeclared = () => JSON.parse(readFileSync(join(repoRoot, declaredFile), 'utf8'));

function toPassed(way, { service, names }) {
  const known = [...new Set([...names, ...runtimeVariables, ...(libraryVariables[service] ?? [])])];
  return known.filter((name) => !isDecidedBy(way, name));
}

/**
 * The content of `declaredFile`.
 *
 * @param {Readonly<Record<string, { shape: object }>>} environments the schemas by service
 */
export function toDeclaredVariables(environments) {
  const declared = Object.entries(environments).map(([service, { shape }]) => [service, Object.keys(shape)]);
  return `${JSON.stringify(Object.fromEntries(declared), null, 2)}\n`;
}

const certificates = 'NODE_EXTRA_CA_CERTS';
const certificatesInContainer = '/run/ca/ca.crt';

/** The path of a file outside is none in a container: the file is mounted, and the container is told where. */
const toComposeLine = (name) =>
  `      ${name}:${name === certificates ? ` \${${name}:+${certificatesInContainer}}` : ''}`;

/** A file that does not exist is refused, and without one there is an empty one. */
const certificateMount = [
  '    volumes:',
  '      - type: bind',
  `        source: \${${certificates}:-/dev/null}`,
  `        target: ${certificatesInContainer}`,
  '        read_only: true',
  '        bind: { create_host_path: false }',
];

/** deploy/compose-variables.yml, whose services those of docker-compose.yml extend. */
export function composeVariables() {
  const services = Object.entries({ ...listPassedVariables('compose'), migrations: [certificates] }).map(
    ([service, names]) =>
      [`  ${service}:`, '    environment:', ...names.map(toComposeLine), ...certificateMount, ''].join('\n'),
  );
  return [
    '# The variables that docker-compose.yml passes on, each as it is outside: where it is not set, the default of the service holds.',
    '# `npm run docs` writes this from the schemas of the services.',
    'services:',
    services.join('\n'),
  ].join('\n');
}

/** deploy/helm/rondo/files/variables.json: what the chart passes on to each service, what any of them declares, and what it decides. */
export function chartVariables() {
  const declared = [...new Set(Object.values(readDeclared()).flat())];
  return `${JSON.stringify({ passed: listPassedVariables('chart'), declared, decided: decidedBy.chart }, null, 2)}\n`;
}
