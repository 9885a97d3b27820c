import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { imagesDirectory } from '../cluster/image-store.mjs';
import { baseVariables, nodeTree } from '../containers/node-base.mjs';
import { repoRoot } from '../repo-root.mjs';
import { DebianFolder } from '../install/debian-folder.mjs';

const startWithinMs = 60_000;
const directory = join(repoRoot, '.data/engines');
const release = 'trixie';
const packages = [
  ...['docker.io', 'docker-cli', 'docker-compose', 'docker-buildx', 'podman', 'runc', 'catatonit'],
  ...['iptables', 'iproute2'],
];

/** In the place of `node:24-bookworm-slim`, where no registry of images is reached. */
export const nodeImage = 'rondo-base:24-bookworm';

/** An engine for containers from Debian's packages, in a folder of its own: the machine's own one, its images and its rules of packets are not touched. */
export class ContainerEngine {
  #kind;
  #folder = new DebianFolder(join(directory, release), { release, packages });
  #child;
  #log;

  /** `name` is one of `engineKinds`. */
  constructor(name) {
    this.#kind = engineKinds[name];
    this.socket = join(this.#folder.path, this.#kind.socket);
    this.#log = join(directory, `${name}.log`);
  }

  /** With `ownNetwork` its containers reach each other and nothing else; without it, builds reach what this machine does. */
  async start({ ownNetwork }) {
    await this.#folder.make();
    for (const remains of ['docker', 'docker.pid', 'docker.sock', 'containerd', 'podman'])
      rmSync(join(this.#folder.path, 'run', remains), { recursive: true, force: true });
    mkdirSync(dirname(this.socket), { recursive: true });
    const log = openSync(this.#log, 'w', 0o600);
    const { command, withoutNetwork, variables } = this.#kind;
    const args = ownNetwork
      ? ['sh', '-c', `ip link set lo up && exec ${command.join(' ')}`]
      : [...command, ...withoutNetwork];
    this.#child = this.#folder.start(args, { ownNetwork, log, variables });
    closeSync(log);
    await this.#answers();
  }

  /** Whose network namespace is that of the engine. */
  get pid() {
    return this.#child.pid;
  }

  /** Runs the client, with this engine. */
  docker(...args) {
    return this.#folder.run(['docker', '--host', `unix://${this.socket}`, ...args]);
  }

  /** Gives it the base that images here are built on, once: with another one they would all be built anew. */
  async importNodeImage() {
    const { stdout } = await this.docker('image', 'ls', '--quiet', nodeImage);
    if (stdout.trim() !== '') return;
    const archive = await nodeTree(imagesDirectory);
    const changes = ['CMD ["node"]', ...baseVariables.map((one) => `ENV ${one}`)].flatMap((one) => ['--change', one]);
    await this.docker('import', ...changes, archive, nodeImage);
  }

  /** Ends it with its containers. Without effect when it does not run. */
  async stop() {
    if (!this.#child || this.#hasEnded) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }

  get #hasEnded() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #answers() {
    const until = performance.now() + startWithinMs;
    for (;;) {
      try {
        return await askEngine(this.socket, '/_ping');
      } catch (error) {
        if (this.#hasEnded || performance.now() > until)
          throw new Error(`${error.message}\n${tail(this.#log)}`, { cause: error });
      }
      await delay(100);
    }
  }
}

const docker = {
  command: ['dockerd'],
  withoutNetwork: ['--bridge=none', '--iptables=false', '--ip6tables=false'],
  socket: 'run/docker.sock',
};

/** By name. They share a folder, and so do not run at the same time. */
export const engineKinds = {
  docker,
  /** Refuses older versions of the API, as release 29 does. */
  'docker-as-29': { ...docker, variables: { DOCKER_MIN_API_VERSION: '1.44' } },
  podman: {
    command: [
      ...['podman', '--runtime=runc', '--cgroup-manager=cgroupfs', '--events-backend=none'],
      ...['system', 'service', '--time=0', 'unix:///run/podman/podman.sock'],
    ],
    withoutNetwork: [],
    socket: 'run/podman/podman.sock',
  },
};

const tail = (file) => readFileSync(file, 'utf8').trim().split('\n').slice(-20).join('\n');

/** The answer of an engine to a request for its state. Rejects unless it is positive. */
export function askEngine(socketPath, path) {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, timeout: 10_000 }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 200) resolve(answer);
        else reject(new Error(`${socketPath} answers ${path} with ${response.statusCode}: ${answer.trim()}`));
      }, reject);
    });
    asked.on('timeout', () => asked.destroy(new Error(`${socketPath} does not answer`)));
    asked.on('error', reject);
    asked.end();
  });
}
