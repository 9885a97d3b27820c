import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { composeSecrets } from './secret-variables.mjs';
import { owner, ownerPassword } from './credentials.mjs';
import { writePrivate, privateDirectory } from '../processes/data-directory.mjs';
import { serverInContainer } from './nats-server-configuration.mjs';
import { toUsers } from './nats-server.mjs';
import { repoRoot } from '../repo-root.mjs';
import { run } from '../run-program.mjs';

const portVariables = { postgres: 'POSTGRES_PORT', redis: 'REDIS_PORT', nats: 'NATS_PORT' };

/** Servers from docker-compose.yml, with one Compose project per data directory. */
export class DockerCompose {
  #project;
  #compose;
  #env;

  constructor(dataDir, env) {
    this.#project = `rondo-${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}`;
    this.#compose = ['compose', '--project-name', this.#project, '--file', join(repoRoot, 'docker-compose.yml')];
    // HOST belongs to the gateway, which is not started here, and Compose cannot parse every value (`::`, for example).
    this.#env = { ...process.env, ...env, HOST: '', ...toSecrets(dataDir), NATS_CONF: natsConfiguration(dataDir) };
  }

  /** Whether a Docker engine answers within two seconds. */
  static async answers(env) {
    const options = { timeoutMs: 2_000, env: { ...process.env, ...env } };
    const questions = [run('docker', ['info'], options), run('docker', ['compose', 'version'], options)];
    return Promise.all(questions).then(
      () => true,
      () => false,
    );
  }

  /** A server with the interface of a local one. The engine restarts it when it dies. */
  server(name, port) {
    this.#env[portVariables[name]] = String(port);
    const url = this.#toUrl(name, `127.0.0.1:${port}`);
    return {
      name,
      url,
      pid: undefined, // the engine runs it
      start: () => this.#run('up', '--detach', '--wait', name),
      stop: () => this.#run('stop', name),
      kill: (signal = 'SIGKILL') => this.#run('kill', '--signal', signal, name),
    };
  }

  /** Whether it was ever started here: its volume is created once its image is there. */
  hasData(name) {
    return run('docker', ['volume', 'inspect', `${this.#project}_${name}`], { env: this.#env }).then(
      () => true,
      () => false,
    );
  }

  #toUrl(name, address) {
    switch (name) {
      case 'postgres':
        return `postgresql://${owner}:${this.#env.POSTGRES_PASSWORD}@${address}/rondo`;
      case 'redis':
        return `redis://:${this.#env.REDIS_PASSWORD}@${address}`;
      case 'nats':
        return `nats://${owner}:${this.#env.NATS_PASSWORD}@${address}`;
    }
  }

  #run(...args) {
    return run('docker', [...this.#compose, ...args], { env: this.#env });
  }
}

/** The file requires all of its secrets, also those of services that are not started. */
function toSecrets(dataDir) {
  const absent = Object.fromEntries(composeSecrets.map((name) => [name, 'unused']));
  return {
    ...absent,
    POSTGRES_PASSWORD: ownerPassword(dataDir, 'postgres'),
    REDIS_PASSWORD: ownerPassword(dataDir, 'redis'),
    NATS_PASSWORD: ownerPassword(dataDir, 'nats'),
  };
}

function natsConfiguration(dataDir) {
  const file = join(privateDirectory(join(dataDir, 'nats')), 'in-docker.conf');
  writePrivate(file, [serverInContainer, toUsers(dataDir)].join('\n'));
  return file;
}
