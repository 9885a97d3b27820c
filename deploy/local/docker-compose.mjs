import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { repoRoot } from './repo-root.mjs';
import { run } from './run-program.mjs';
import { secret } from './secrets.mjs';

const portVariables = { postgres: 'POSTGRES_PORT', redis: 'REDIS_PORT', nats: 'NATS_PORT' };

/** Servers from docker-compose.yml, in a project of their own for each data directory. */
export class DockerCompose {
  #compose;
  #env;

  constructor(dataDir) {
    const project = `rondo-${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}`;
    this.#compose = ['compose', '--project-name', project, '--file', join(repoRoot, 'docker-compose.yml')];
    // Our HOST may be what Compose cannot read, `::` for example; the gateway that it belongs to is not started here.
    this.#env = { ...process.env, HOST: '', POSTGRES_PASSWORD: secret(dataDir, 'postgres-password') };
  }

  /** Whether an engine answers, asked for two seconds at most. */
  static async answers() {
    const options = { timeoutMs: 2_000 };
    const questions = [run('docker', ['info'], options), run('docker', ['compose', 'version'], options)];
    return Promise.all(questions).then(
      () => true,
      () => false,
    );
  }

  /** One of the servers, in the shape of a local one. The engine restarts it when it dies. */
  server(name, port) {
    this.#env[portVariables[name]] = String(port);
    const url = this.#urlOf(name, `127.0.0.1:${port}`);
    return {
      name,
      url,
      pid: undefined, // it lives in the engine
      start: () => this.#run('up', '--detach', '--wait', name),
      stop: () => this.#run('stop', name),
      kill: (signal = 'SIGKILL') => this.#run('kill', '--signal', signal, name),
    };
  }

  #urlOf(name, address) {
    switch (name) {
      case 'postgres':
        return `postgresql://rondo:${this.#env.POSTGRES_PASSWORD}@${address}/rondo`;
      case 'redis':
        return `redis://${address}`;
      case 'nats':
        return `nats://${address}`;
    }
  }

  #run(...args) {
    return run('docker', [...this.#compose, ...args], { env: this.#env });
  }
}
