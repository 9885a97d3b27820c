import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
} from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { imagesDirectory } from '../cluster/image-store.mjs';
import { baseVariables, nodeTree } from '../containers/node-base.mjs';
import { repoRoot } from '../repo-root.mjs';
import { spawn } from 'node:child_process';
import { installTools } from '../install/install-tools.mjs';
import { run } from '../run-program.mjs';

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

const enter = join(import.meta.dirname, 'enter.sh');

/** What programs in a folder see under the same paths: containers that they start mount it. */
const shared = [repoRoot, '/tmp', '/var/tmp'].join(':');
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LANG: 'C.UTF-8' };

/** A release of Debian in a folder, with packages that this machine does not have. Nothing is installed outside of it. As root. */
class DebianFolder {
  #release;
  #packages;

  constructor(path, { release, packages }) {
    this.path = path;
    this.#release = release;
    this.#packages = packages;
  }

  /** Makes it once. */
  async make() {
    if (!existsSync(this.path)) {
      await installTools(['mmdebstrap']);
      mkdirSync(dirname(this.path), { recursive: true });
      const draft = mkdtempSync(`${this.path}-`);
      const include = `--include=${['ca-certificates', ...this.#packages].join(',')}`;
      await run('mmdebstrap', ['--variant=minbase', '--mode=root', include, this.#release, draft]);
      renameSync(draft, this.path);
    }
    for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt'])
      copyFileSync(file, join(this.path, file));
  }

  /** Runs a program of the folder to its end. */
  run(args) {
    const [file, ...rest] = this.#command([], args);
    return run(file, rest, { env });
  }

  /** Starts a program of the folder, which ends with this process; with `ownNetwork` alone in a network namespace of its own. */
  start(args, { ownNetwork, log, variables }) {
    const command = this.#command(ownNetwork ? ['--net'] : [], args);
    const options = { env: { ...env, ...variables }, stdio: ['ignore', log, log], detached: true };
    return spawn('setpriv', ['--pdeathsig', 'TERM', ...command], options);
  }

  #command(namespaces, args) {
    return ['unshare', '--mount', ...namespaces, 'sh', enter, this.path, shared, ...args];
  }
}
