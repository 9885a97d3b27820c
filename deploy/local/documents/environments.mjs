import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Where Rondo was seen to run, and by which specs of `npm test`, or by which command of its own. */
const environments = [
  {
    name: 'Node.js',
    version: '20 (Debian 12, x86-64)',
    seen: 'everything that this page does not name',
    command: 'npm test',
  },
  {
    name: 'Node.js 26',
    version: '26.12 (Debian 12, x86-64)',
    seen: 'what speaks to models and servers, the agent-worker; whole deployments with the command line, the console, stops and settings; with this Node on the `PATH`',
    command: 'npm test -- <pattern>',
  },
  {
    name: 'Postgres',
    version: '15.18',
    seen: 'crashes at every event, locks, grants, migrations beside the last release',
    specs: ['libs/persistence/src/database/grants.spec.ts', 'libs/persistence/src/run-store/dead-holders.spec.ts'],
  },
  {
    name: 'Postgres with TLS, and certificates of clients',
    version: '15.18',
    seen: 'what each `sslmode` accepts and refuses',
    specs: ['libs/persistence/src/database/tls.spec.ts'],
  },
  {
    name: 'Postgres with a replica that is promoted',
    version: '15.18',
    seen: 'a synchronous one has lost nothing; of an asynchronous one, each reader is told what was lost',
    specs: ['apps/gateway/src/live/replaced-database.spec.ts'],
  },
  {
    name: 'PgBouncer, session and transaction mode',
    version: '1.18',
    seen: 'its defaults; a dead worker is noticed within 5 s',
    specs: ['libs/persistence/src/database/pgbouncer.spec.ts', 'libs/persistence/src/run-store/dead-holders.spec.ts'],
  },
  {
    name: 'Redis with sentinels, users and TLS',
    version: '7.0',
    seen: 'a promoted replica; cluster mode is refused at boot',
    specs: ['libs/messaging/src/queues/redis-connections.spec.ts'],
  },
  {
    name: 'NATS: three servers, TLS',
    version: '2.9',
    seen: 'the leader of a stream is killed under calls: each is carried out once',
    specs: ['libs/messaging/src/tool-calls/nats-cluster.spec.ts'],
  },
  {
    name: 'Postgres, Redis and NATS with replicas, under runs',
    version: '15.18, 7.0, 2.9',
    seen: 'each primary is killed; nothing is lost or doubled, and streams equal their logs ([reliability](reliability.md#which-replication-keeps-which-promise))',
    command: 'npm run chaos -- --only failover',
  },
  {
    name: 'Newer servers: Postgres, PgBouncer, Redis or Valkey, NATS',
    version: '17.12, 1.24, Redis 8.0, 2.10; 18.6, 1.26, Valkey 9.1, 2.15',
    seen: 'all that speaks to them, and the small campaign of faults',
    command: 'npm run newer-servers',
  },
  {
    name: 'Services of the last release beside those of this version, under runs',
    version: '0.1.0',
    seen: 'each is replaced, forwards and back, in four orders; nothing fails, is lost or is done twice ([operations](operations.md#compatibility))',
    command: 'npm run chaos -- --only upgrade',
  },
  {
    name: 'nginx, Caddy and HAProxy in front, below a path',
    version: '1.22, 2.6, 2.6',
    seen: 'the configurations of [reverse proxies](reverse-proxy.md): streams, sockets, console, queue board',
    specs: ['apps/e2e/src/reverse-proxy.e2e-spec.ts'],
  },
  {
    name: 'Addresses of version 6 only',
    version: 'all servers and services on `::1`',
    seen: 'runs with tools, streams, sockets and internal hosts; no connection of version 4',
    specs: ['apps/e2e/src/ipv6.e2e-spec.ts'],
  },
  {
    name: 'Clocks that are wrong',
    version: 'libfaketime 0.9, two minutes ahead or behind',
    seen: 'order of times in logs, leases, stops, takeovers, schedules',
    specs: ['apps/e2e/src/skewed-clocks.e2e-spec.ts'],
  },
  {
    name: 'An outbound proxy that permits only `CONNECT`',
    version: 'a server of the tests',
    seen: 'models, tools, webhooks, OIDC, traces and copies of workspaces leave through it',
    specs: ['apps/tool-executor/src/proxied-tools.spec.ts', 'apps/e2e/src/outbound-proxy.e2e-spec.ts'],
  },
  {
    name: 'Debian packages instead of images',
    version: '12',
    seen: '`npm start` where Docker reaches no registry',
    specs: ['apps/e2e/src/servers-without-registry.e2e-spec.ts'],
  },
  {
    name: 'Chromium, in sandboxes and for the console',
    version: 'that of Debian 12',
    seen: 'browser tools, every page, light, dark and narrow',
    specs: ['apps/e2e/src/ordinary/browser.e2e-spec.ts', 'apps/e2e/src/ordinary/console.e2e-spec.ts'],
  },
  {
    name: 'A Docker engine for sandboxes, with the image of `deploy/sandbox`',
    version: '26.1.5',
    seen: 'the contract of all providers; attacks on network, secrets, agent and browser; tools for commands, pages, documents and files; image, packages of Debian and npm, and size of an agent, through the API of a whole deployment; of these, contract, agent and files also with the least API version of release 29',
    command: 'npm run engines',
  },
  {
    name: 'Podman in its place, as root',
    version: '5.4.2',
    seen: 'the same',
    command: 'npm run engines -- --only podman',
  },
  {
    name: 'Daytona',
    version: 'its SDK, against a server of the tests',
    seen: 'the contract of all providers; never the service itself',
    specs: ['apps/tool-executor/src/sandboxes/daytona/daytona-provider.contract.spec.ts'],
  },
  {
    name: 'Kubernetes',
    version: '1.20, built from Debian’s sources',
    seen: 'the chart: 48 of 48 runs completed while pods of every service and server were killed, 49 of 49 through an upgrade and its rollback, 46 of 46 through a drain; scaling ([kubernetes](kubernetes.md#on-a-real-cluster))',
    command: 'npm run cluster',
  },
  {
    name: 'Three servers of NATS in the chart',
    version: 'NATS 2.9 on Kubernetes 1.20',
    seen: 'the leader of the calls is killed eight times: the 48 runs under way stood still for 12.6 s at most, and nothing was lost, doubled or `unknown`',
    command: 'npm run cluster -- --only nats-leader',
  },
  {
    name: 'Docker Compose with a real engine',
    version: 'Docker 26.1.5, Compose 2.26.1',
    seen: 'the file of this repository with its own images and stand-ins for the three servers: `up`, runs with tools, `down`, `up` with what was there',
    command: 'npm run compose',
  },
  {
    name: 'The images of Compose and chart',
    version: 'built without Docker',
    seen: 'the demo run on them; all services ready after 12 s ([images](images.md#without-docker))',
    command: 'npm run images',
  },
];

/** What was not run here; what is known of it stands in the pages. */
const unseen = [
  'the images of Postgres, Redis and NATS that `docker-compose.yml` names',
  'rootless engines, user namespaces of an engine',
  'Traefik',
  'arm64, macOS and Windows',
];

/**
 * docs/environments.md. Throws for a command or a spec that does not exist.
 *
 * @param {string} repoRoot
 * @returns {string}
 */
export function environmentsPage(repoRoot) {
  const { scripts } = JSON.parse(readFileSync(join(repoRoot, 'package.json'), 'utf8'));
  const rows = environments.map(({ name, version, seen, command, specs = [] }) => {
    if (command && !(command.replace(/^npm (run )?| -- .*/g, '') in scripts))
      throw new Error(`There is no ${command}.`);
    for (const spec of specs) if (!existsSync(join(repoRoot, spec))) throw new Error(`There is no ${spec}.`);
    const commands = command ? [command] : specs.map((spec) => `npm test -- ${basename(spec, '.ts')}`);
    return `| ${name} | ${version} | ${seen} | ${commands.map((one) => `\`${one}\``).join(', ')} |`;
  });
  return `${head}
| environment | version | what was seen | command |
|---|---|---|---|
${rows.join('\n')}

Not seen: ${unseen.join('; ')}.
`;
}

const head = `# Where Rondo was seen to run

Written by \`npm run docs\` from deploy/local/documents/environments.mjs. Each command runs on a bare Debian machine and installs what it needs;
\`npm test\` runs all rows that have a command of that name. Figures are in [performance](performance.md), [scale](scale.md) and the
[scorecard](SCORECARD.md), what is to be set in [operations](operations.md).
`;
