import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startInfrastructure } from '../../../deploy/local/servers/infrastructure.mjs';
import { findNatsServer } from '../../../deploy/local/servers/nats-server.mjs';
import { repoRoot } from '../../../deploy/local/repo-root.mjs';

/** Its first start tells the test its port, which the test then takes, and ends as a server does that cannot have it. */
const beaten = ({ real, env, told, marker }: { real: string; env: string; told: number; marker: string }) => `#!/bin/sh
if [ "$1" != --version ] && [ ! -e '${marker}' ]; then
  touch '${marker}'
  '${process.execPath}' -e '
    const [, port] = /listen: "127.0.0.1:([0-9]+)"/.exec(require("fs").readFileSync(process.argv[1], "utf8"));
    require("net").connect(${told}, "127.0.0.1").end(port).resume();
  ' "$2"
  echo 'address already in use'
  exit 1
fi
${env} exec '${real}' "$@"
`;

it('a server whose port another program has taken meanwhile gets another one', async () => {
  const directory = mkdtempSync('/var/tmp/rondo-taken-');
  const programs = join(directory, 'programs');
  mkdirSync(programs);
  const { file: real, env } = await findNatsServer(join(repoRoot, '.data'));
  const other: Server = createServer((socket) => socket.destroy());
  const asked = createServer({ allowHalfOpen: true }, (socket) => {
    void text(socket).then((port) => other.listen(Number(port), '127.0.0.1', () => socket.end()));
  }).listen(0, '127.0.0.1');
  await once(asked, 'listening');
  const { port: told } = asked.address() as AddressInfo; // it listens on TCP
  const variables = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const program = beaten({ real, env: variables.join(' '), told, marker: join(directory, 'marker') });
  writeFileSync(join(programs, 'nats-server'), program);
  chmodSync(join(programs, 'nats-server'), 0o755);

  const set = await startInfrastructure({
    dataDir: join(directory, 'data'),
    env: { PATH: `${programs}:${process.env['PATH'] ?? ''}` },
    want: ['nats'],
  });

  expect(set.env.NATS_URL).not.toContain(`:${(other.address() as AddressInfo).port}`);
  expect(set.servers).toHaveLength(1);
  await set.stop();
  for (const server of [other, asked]) server.close();
  rmSync(directory, { recursive: true });
});
