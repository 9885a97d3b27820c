import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installTools } from '../install/install-tools.mjs';
import { run } from '../run-program.mjs';

const wanted = ['buildah', 'podman', 'runc', 'mmdebstrap'];
const isRoot = process.getuid?.() === 0;

/** Installs Debian's packages of what builds and runs images, if a program is missing. */
export async function installContainerTools() {
  if (!isRoot) throw new Error('Images are built and run here by root only. With Docker: docs/images.md.');
  return installTools(wanted);
}

/** Images and containers of a directory of their own, apart from those of the machine. */
export class Containers {
  #env;

  constructor(directory) {
    const configuration = join(directory, 'storage.conf');
    mkdirSync(directory, { recursive: true });
    writeFileSync(
      configuration,
      [
        '[storage]',
        'driver = "overlay"',
        `graphroot = ${JSON.stringify(join(directory, 'storage'))}`,
        `runroot = ${JSON.stringify(join(directory, 'running'))}`,
        '',
      ].join('\n'),
    );
    this.#env = { ...process.env, CONTAINERS_STORAGE_CONF: configuration };
  }

  async hasImage(name) {
    return this.buildah('inspect', '--type', 'image', name).then(
      () => true,
      () => false,
    );
  }

  /** What podman says of an image: its configuration, its history and its size in bytes. */
  async inspect(name) {
    const { stdout } = await this.podman('image', 'inspect', name);
    return JSON.parse(stdout)[0];
  }

  buildah(...args) {
    return run('buildah', args, { env: this.#env });
  }

  podman(...args) {
    return run('podman', [...ofPodman, ...args], { env: this.#env });
  }

  /**
   * The command that runs an image in the foreground, with the network of this machine. The values of its variables are not on the
   * command line, which every user can read. `docker-compose.yml` says how the container is confined.
   */
  command({ image, name, env, options = [], args = [] }) {
    const variables = Object.keys(env).flatMap((variable) => ['--env', variable]);
    const always = [
      'run',
      '--rm',
      '--replace',
      '--name',
      name,
      '--pull=never',
      '--network=host',
      '--log-driver=none',
      '--no-healthcheck',
    ];
    return {
      file: 'podman',
      args: [...ofPodman, ...always, ...limits, ...variables, ...options, image, ...args],
      env: { ...this.#env, ...env },
    };
  }

  /** Runs an image to its end. */
  async runToEnd(request) {
    const { file, args, env } = this.command(request);
    return run(file, args, { env });
  }

  async remove(names) {
    await this.podman('rm', '--force', '--time=0', '--ignore', ...names);
  }
}

/** Of a machine without systemd, whose control groups are of version 1 or 2. */
const ofPodman = ['--runtime=runc', '--cgroup-manager=cgroupfs', '--events-backend=none'];
/** podman sets limits that a machine may refuse to raise; these are enough for any service. */
const limits = ['--ulimit=nofile=16384:16384', '--ulimit=nproc=8192:8192'];

/** Removes a directory of images. Programs that were killed leave its file systems mounted. */
export async function removeContainers(directory) {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const places = mounts.map((line) => line.split(' ')[1] ?? '').filter((place) => place.startsWith(`${directory}/`));
  for (const place of places.reverse()) await run('umount', [place]);
  rmSync(directory, { recursive: true, force: true });
}

/** The options of podman that confine a container as Compose confines this service. */
export function toConfinement({ cap_drop = [], security_opt = [], tmpfs = [], ...service }) {
  return [
    ...cap_drop.map((capability) => `--cap-drop=${capability}`),
    ...security_opt.map((option) => `--security-opt=${inPodman[option] ?? option}`),
    ...(service.read_only ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...[tmpfs].flat().map((path) => `--tmpfs=${path}`),
  ];
}

const inPodman = { 'systempaths=unconfined': 'unmask=ALL', 'no-new-privileges:true': 'no-new-privileges' };
