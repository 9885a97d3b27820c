import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { passwordVariable } from './secret-variables.mjs';
import { repoRoot } from '../repo-root.mjs';
import { databaseServices } from './roles.mjs';

/**
 * The users in a server's configuration. Each service and each executor may publish and subscribe to what
 * deploy/nats-permissions.json lists for it, and nothing else; the owner, if there is one, may do everything. `toPassword`
 * returns what the configuration contains as a user's password.
 */
export function toAuthorization({ executors, toPassword, owner }) {
  const permissions = JSON.parse(readFileSync(join(repoRoot, 'deploy/nats-permissions.json'), 'utf8'));
  const users = [
    ...databaseServices.map((user) => toUser({ user, password: toPassword(user), permissions: permissions[user] })),
    ...executors.map((user) =>
      toUser({ user, password: toPassword(user), permissions: ofExecutor(permissions['tool-executor'], user) }),
    ),
  ];
  if (owner) users.push(`    { user: ${JSON.stringify(owner)}, password: ${toPassword(owner)} }`);
  return ['authorization {', '  users = [', ...users, '  ]', '}', ''].join('\n');
}

function toUser({ user, password, permissions: { publish, subscribe, allow_responses } }) {
  const answers =
    allow_responses && `allow_responses: { max: ${allow_responses.max}, expires: "${allow_responses.expires}" }`;
  return [
    `    { user: ${JSON.stringify(user)}, password: ${password}, permissions: {`,
    `      publish: { allow: [${toList(publish)}] }`,
    `      subscribe: { allow: [${toList(subscribe)}] }`,
    ...(answers ? [`      ${answers}`] : []),
    '    } }',
  ].join('\n');
}

const toList = (subjects) => `\n${subjects.map((subject) => `        ${JSON.stringify(subject)}\n`).join('')}      `;

function ofExecutor(permissions, id) {
  return JSON.parse(JSON.stringify(permissions).replaceAll('EXECUTOR_ID', id));
}

/** The part of every server's configuration that does not concern users. */
export function toServer({ listen, storeDir, knowsSyncInterval = true }) {
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
export const serverInContainer = toServer({ listen: ['http: "127.0.0.1:8222"'], storeDir: '/data' });

/** The configuration of docker-compose.yml. Passwords come from the container's environment. */
export function composeConfiguration(executors = ['tool-executor']) {
  const toPassword = (user) => `$${passwordVariable('NATS', user)}`;
  return [
    '# The NATS server of docker-compose.yml. `npm run docs` writes this; with more executors: npm run --silent nats-configuration -- ID ID …',
    serverInContainer,
    toAuthorization({ executors, toPassword }),
  ].join('\n');
}
