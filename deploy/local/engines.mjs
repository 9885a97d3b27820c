import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { runCommand } from './command.mjs';
import { installPackages, requireNode } from './install.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { jest } from './verification.mjs';

const help = `npm run engines                         the contract of sandboxes in containers, with the Docker engine at /var/run/docker.sock
npm run engines -- --socket <path>      with the engine at another socket

The engine runs on this machine and has the image node:24-bookworm, with Python and curl. As root, every container has a user of
its own, as in a deployment. Containers of others are not touched. About a minute.`;

const image = 'node:24-bookworm';
const option = process.argv.indexOf('--socket');
const socket = option < 0 ? '/var/run/docker.sock' : process.argv[option + 1];

if (process.argv.includes('--help') || !socket) console.log(help);
else await runCommand(main, { log, codeWhenInterrupted: 130 });

async function main() {
  requireNode();
  await installPackages(repoRoot, log);
  await step(log, 'engine', {
    work: readEngine,
    detail: ({ Version, ApiVersion, MinAPIVersion }) => `${Version}, API ${MinAPIVersion} to ${ApiVersion}`,
  });
  await step(log, 'contract', {
    work: () =>
      jest(['tool-executor'], {
        env: { TEST_DOCKER_SOCKET: socket },
        args: ['--testPathPatterns', 'sandboxes/docker/.*contract', '--maxWorkers', '1'],
      }),
    detail: ({ stderr }) => /^Tests:\s+(.*)$/m.exec(stderr)?.[1] ?? '',
  });
  return 0;
}

/** What the engine says of itself. Rejects if it does not answer, or has no image for the containers. */
async function readEngine() {
  const engine = JSON.parse(await ask('/version'));
  await ask(`/v${engine.ApiVersion}/images/${image}/json`);
  return engine;
}

function ask(path) {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: socket, path, timeout: 10_000 }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(answer);
        else reject(new Error(`${socket} answers ${path} with ${response.statusCode}: ${answer.trim()}`));
      }, reject);
    });
    asked.on('timeout', () => asked.destroy(new Error(`${socket} does not answer`)));
    asked.on('error', reject);
    asked.end();
  });
}
