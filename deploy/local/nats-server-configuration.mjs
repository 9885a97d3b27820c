import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { passwordVariable } from './secret-variables.mjs';
import { repoRoot } from './repo-root.mjs';
import { databaseServices } from './roles.mjs';

/**
 * The users in a server's configuration. Each service and each executor may publish and subscribe to what
 * deploy/nats-permissions.json lists for it, and nothing else; the owner, if there is one, may do everything. `passwordOf`
 * returns what the configuration contains as a user's password.
 */
export function authorizationOf({ executors, passwordOf, owner }) {
  const permissions = JSON.parse(readFileSync(join(repoRoot, 'deploy/nats-permissions.json'), 'utf8'));
  const users = [
    ...databaseServices.map((user) => userOf({ user, password: passwordOf(user), permissions: permissions[user] })),
    ...executors.map((user) =>
      userOf({ user, password: passwordOf(user), permissions: ofExecutor(permissions['tool-executor'], user) }),
    ),
  ];
  if (owner) users.push(`    { user: ${JSON.stringify(owner)}, password: ${passwordOf(owner)} }`);
  return ['authorization {', '  users = [', ...users, '  ]', '}', ''].join('\n');
}

function userOf({ user, password, permissions: { publish, subscribe, allow_responses } }) {
  const answers =
    allow_responses && `allow_responses: { max: ${allow_responses.max}, expires: "${allow_responses.expires}" }`;
  return [
    `    { user: ${JSON.stringify(user)}, password: ${password}, permissions: {`,
    `      publish: { allow: [${listOf(publish)}] }`,
    `      subscribe: { allow: [${listOf(subscribe)}] }`,
    ...(answers ? [`      ${answers}`] : []),
    '    } }',
  ].join('\n');
}

const listOf = (subjects) => `\n${subjects.map((subject) => `        ${JSON.stringify(subject)}\n`).join('')}      `;

function ofExecutor(permissions, id) {
  return JSON.parse(JSON.stringify(permissions).replaceAll('EXECUTOR_ID', id));
}

/** The part of every server's configuration that does not concern users. */
export function serverOf({ listen, storeDir, knowsSyncInterval = true }) {
  return [
    ...listen,
    'max_payload: 8MB # a tool call carries its arguments, a whole file for example',
    'jetstream {',
    `  store_dir: ${JSON.stringify(storeDir)}`,
    '  max_memory_store: 256MB',
    '  max_file_store: 8GB',
    ...(knowsSyncInterval ? ['  sync_interval: "1s"'] : []),
    '}',
    '',
  ].join('\n');
}

/** Monitoring listens inside the container only, for its health check, because it shows which clients are connected. */
export const serverInContainer = serverOf({ listen: ['http: "127.0.0.1:8222"'], storeDir: '/data' });

/** The configuration of docker-compose.yml. Passwords come from the container's environment. */
export function composeConfiguration(executors = ['tool-executor']) {
  const passwordOf = (user) => `$${passwordVariable('NATS', user)}`;
  return [
    '# The NATS server of docker-compose.yml. `npm run docs` writes this; with more executors: npm run --silent nats-configuration -- ID ID …',
    serverInContainer,
    authorizationOf({ executors, passwordOf }),
  ].join('\n');
}
