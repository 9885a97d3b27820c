import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bubblewrap } from '../install/bubblewrap.mjs';
import { chromium } from '../install/chromium.mjs';
import { claimDataDirectory, reachableDirectory, releaseDataDirectory } from '../processes/data-directory.mjs';
import { DebianPackages } from '../install/debian-packages.mjs';
import { DockerCompose } from './docker-compose.mjs';
import { choosePort, isFree } from './free-port.mjs';
import { nats } from './nats-server.mjs';
import { copyPostgres, postgres } from './postgres-server.mjs';
import { waitForGiven, withoutPassword } from './probes.mjs';
import { ReportedError, silent } from '../progress.mjs';
import { redis } from './redis-server.mjs';
import { rotateLog, SupervisedProcess } from '../processes/supervised-process.mjs';
import { caddy, faketime, haproxy, nginx, pgbouncer } from '../tests/test-programs.mjs';

const components = { postgres, redis, nats };
/** Without them everything works except the tools that need them. */
const programs = { bwrap: bubblewrap, chromium, caddy, faketime, haproxy, nginx, pgbouncer };
/** What a deployment uses; the rest is for tests. */
export const usual = [...Object.keys(components), 'bwrap', 'chromium'];
const defaults = {
  ...{ want: usual, host: '127.0.0.1', preferredPorts: false, supervise: false },
  ...{ isDurable: true, log: silent },
};

/**
 * Finds or starts Postgres, Redis, NATS, bubblewrap and Chromium. For each server, in this order: the one at a URL in `env`; a local
 * program; Docker Compose, if an engine answers and has the image or can pull it; on Debian and Ubuntu, the distribution's
 * package, unpacked without root.
 * Servers listen on `host`, 127.0.0.1 by default, and write below `dataDir`. Several sets with different data directories can run
 * at the same time; they may share the unpacked packages of `packagesDirectory`.
 *
 * @typedef {'postgres' | 'redis' | 'nats'} ServerName
 * @typedef {Partial<Record<'DATABASE_URL' | 'REDIS_URL' | 'NATS_URL' | 'BWRAP_PATH' | 'BROWSER_PATH', string>>} InfrastructureEnvironment
 * @typedef {import('../processes/supervised-process.mjs').RunningProgram} RunningProgram
 *
 * @typedef {object} InfrastructureRequest
 * @property {string} dataDir everything that the servers write lies below it; two sets need two of them
 * @property {string} [packagesDirectory] a data directory whose unpacked packages may be used; its own by default
 * @property {NodeJS.ProcessEnv} [env] where URLs and the PATH are read from; `process.env` by default
 * @property {readonly (ServerName | 'bwrap')[]} [want]
 * @property {string} [host]
 * @property {boolean} [preferredPorts] takes 5432, 6379 and 4222 where they are free; otherwise any free ports
 * @property {boolean} [supervise] starts a server again when it dies; off by default
 * @property {boolean} [isDurable] off for tests: a power failure may cost Postgres its data, and it waits for no disk
 * @property {string} [databaseFrom] a data directory whose Postgres is copied, which must not run
 * @property {import('../progress.mjs').Progress} [log]
 *
 * @param {InfrastructureRequest} request
 */
export async function startInfrastructure(request) {
  const set = new Infrastructure(request);
  await set.start();
  return set;
}

export class Infrastructure {
  #request;
  #packages;
  #docker;
  #isStopping = false;
  /** @type {RunningProgram[]} */
  servers = [];
  /**
   * The variables by which services and tests find them.
   *
   * @type {InfrastructureEnvironment}
   */
  env = {};

  /** @param {InfrastructureRequest} request */
  constructor(request) {
    this.#request = { ...defaults, env: process.env, packagesDirectory: request.dataDir, ...request };
  }

  /** Rejects if a server can be neither found nor started; then nothing is left running. */
  async start() {
    const { want, dataDir, packagesDirectory, databaseFrom } = this.#request;
    await claimDataDirectory(dataDir);
    if (databaseFrom) copyPostgres(databaseFrom, dataDir);
    this.#packages = new DebianPackages(reachableDirectory(packagesDirectory, 'packages'));
    const work = want.map((name) =>
      name in programs ? this.#findProgram(programs[name]) : this.#provide(components[name]),
    );
    const outcomes = await Promise.allSettled(work);
    this.#packages.forget();
    const failures = outcomes.filter(({ status }) => status === 'rejected');
    if (failures.length === 0) return;
    await this.stop();
    throw new ReportedError(new Error(failures.map(({ reason }) => reason.message).join('\n')));
  }

  /** @param {ServerName} name */
  get(name) {
    const server = this.servers.find((candidate) => candidate.name === name);
    if (!server) throw new Error(`There is no server named ${name} in this set.`);
    return server;
  }

  async stop() {
    this.#isStopping = true;
    this.#packages?.forget();
    await Promise.all(this.servers.map((server) => server.stop()));
    releaseDataDirectory(this.#request.dataDir);
  }

  async #provide(component) {
    const { name, variable } = component;
    const since = performance.now();
    try {
      const { server, where } = await this.#findOrStart(component);
      this.env[variable] = server.url;
      const detail = `${withoutPassword(server.url)}  (${where})`;
      this.#request.log.done({ name, ms: performance.now() - since, detail });
    } catch (error) {
      this.#request.log.failed({ name, ms: performance.now() - since, detail: error.message });
      throw new Error(`${name}: ${error.message}`, { cause: error });
    }
  }

  async #findOrStart(component) {
    const { env, dataDir } = this.#request;
    const url = env[component.variable];
    if (url) return { server: this.#own(await useGivenServer(component, url)), where: `from $${component.variable}` };
    const local = component.findLocal({ path: env.PATH, dataDir });
    if (local) return this.#startLocal(component, local);
    if (existsSync(this.#fallbackFile(component)) || !(await DockerCompose.answers(this.#request.env))) {
      return this.#startLocal(component, await this.#fromPackages(component));
    }
    return this.#startInDocker(component).catch((error) => this.#startInsteadOfDocker(component, error));
  }

  /** Where no registry can be reached. Later starts do the same, even if Docker could pull by then: the data is here. */
  async #startInsteadOfDocker(component, error) {
    if (!DebianPackages.isPossible() || (await this.#docker.hasData(component.name))) throw error;
    this.servers = this.servers.filter(({ name }) => name !== component.name);
    const started = await this.#fromPackages(component)
      .then((program) => this.#startLocal(component, program))
      .catch((unpacked) => {
        throw new Error(`${error.message}\n${unpacked.message}`);
      });
    writeFileSync(this.#fallbackFile(component), `${error.message}\n`, { mode: 0o600 });
    return { ...started, where: `${started.where}, since Docker has no image of it` };
  }

  #fallbackFile({ name }) {
    return join(this.#request.dataDir, `${name}-without-docker`);
  }

  /** Between the choice of a port and the start another program can take it: then with another one. */
  async #startLocal(component, program) {
    const { host } = this.#request;
    for (;;) {
      const port = await this.#portFor(component);
      const { server, where } = await this.#prepareLocal(component, { program, port });
      try {
        await server.start();
        return { server, where };
      } catch (error) {
        if (server.pid !== undefined || (await isFree(port, host))) throw error;
        this.#disown(server);
      }
    }
  }

  async #prepareLocal(component, { program, port }) {
    const { dataDir, host, supervise, isDurable } = this.#request;
    const prepared = await component.prepare({ program, dataDir, host, port, isDurable });
    const server = this.#own(
      new SupervisedProcess({
        ...prepared,
        name: component.name,
        kind: 'server',
        supervise,
        logFile: rotateLog(join(dataDir, 'logs', `${component.name}.log`)),
        pidFile: join(dataDir, 'run', `${component.name}.pid`),
      }),
    );
    return { server, where: prepared.where };
  }

  async #startInDocker(component) {
    this.#docker ??= new DockerCompose(this.#request.dataDir, this.#request.env);
    const server = this.#own(this.#docker.server(component.name, await this.#portFor(component)));
    await server.start();
    return { server, where: 'Docker Compose' };
  }

  #portFor({ preferredPort }) {
    const { host, preferredPorts } = this.#request;
    return choosePort(preferredPorts ? preferredPort : undefined, host);
  }

  /** Registers a server before it starts, so that `stop` never misses one. */
  #own(server) {
    if (this.#isStopping) throw new Error('stopped before it was started');
    this.servers.push(server);
    return server;
  }

  #disown(server) {
    this.servers = this.servers.filter((one) => one !== server);
  }

  async #fromPackages(component) {
    if (!DebianPackages.isPossible())
      throw new Error(`not found; do one of: ${component.install} | export ${component.variable}=…`);
    return component.fromPackages(this.#packages).catch((error) => {
      throw new Error(
        `not found, and its package could not be fetched; do one of: ${component.install}\n${error.message}`,
      );
    });
  }

  /** A missing program is a warning, not an error. */
  async #findProgram(program) {
    const { name, variable } = program;
    const { env, log } = this.#request;
    const since = performance.now();
    try {
      const found = env[variable] ? { file: env[variable] } : program.findLocal({ path: env.PATH });
      const { file } = found ?? (await this.#fromPackages(program));
      this.env[variable] = file;
      await program.tryOut(file);
      log.done({ name, ms: performance.now() - since, detail: file });
    } catch (error) {
      log.warn({ name, ms: performance.now() - since, detail: error.message });
    }
  }
}

/** A server that this command did not start is used and never stopped. */
async function useGivenServer({ name, variable }, url) {
  await waitForGiven({ name, url, variable });
  const refuse = async () => {
    throw new Error(`${name} was given by $${variable}; it is not ours to start or kill.`);
  };
  return { name, url, pid: undefined, start: refuse, kill: refuse, stop: async () => undefined };
}
