import { join } from 'node:path';
import { executorId, executorIdFile, executorInstances, urlFor } from '../servers/credentials.mjs';
import { privateDirectory, reachableDirectory } from '../processes/data-directory.mjs';
import { choosePort, inUrl } from '../servers/free-port.mjs';
import { ReportedError, silent } from '../progress.mjs';
import { roleOfUrl } from '../servers/prepare-database.mjs';
import { repoRoot } from '../repo-root.mjs';
import { databaseServices } from '../servers/roles.mjs';
import { secret } from '../processes/secrets.mjs';
import { serviceEnvironment, serviceNames } from './service-environment.mjs';
import { rotateLog, SupervisedProcess } from '../processes/supervised-process.mjs';

/** Where a service is reached that listens on all addresses. */
const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const defaults = {
  ...{ launch, instances: serviceNames, ports: {}, settings: {}, supervise: true, log: silent },
  host: '127.0.0.1',
};

/**
 * Starts services, each as a process (`node apps/<service>/dist/main.js`), and resolves when all of them are ready. A
 * service that is named several times is started several times: `gateway`, `gateway-2`, … If one does not become ready,
 * all are stopped.
 *
 * @typedef {'demo-model' | 'tool-executor' | 'agent-worker' | 'summarizer' | 'gateway'} ServiceName
 * @typedef {import('../servers/infrastructure.mjs').InfrastructureEnvironment} InfrastructureEnvironment
 * @typedef {import('../processes/supervised-process.mjs').RunningProgram} RunningProgram
 * @typedef {{ file: string, args: string[], cwd?: string, env: NodeJS.ProcessEnv }} Command
 *
 * @typedef {object} ServicesRequest
 * @property {string} dataDir where logs, process files and sandboxes go; usually the one of the infrastructure
 * @property {InfrastructureEnvironment} infrastructure the URLs, as `Infrastructure.env` has them
 * @property {string} [adminKey] becomes the gateway's RONDO_ADMIN_KEY
 * @property {readonly ServiceName[]} [instances] one of each by default
 * @property {string} [host] the address that services listen on; 127.0.0.1 by default
 * @property {Readonly<Record<string, number>>} [ports] by instance; the others get free ports
 * @property {Readonly<Record<string, Readonly<Record<string, string>>>>} [settings] more variables, by service or by instance;
 *   those of the instance override the others
 * @property {NodeJS.ProcessEnv} [env] what the services may inherit; `process.env` by default
 * @property {boolean} [supervise] starts a service again when it dies; on by default
 * @property {readonly number[]} [restartDelaysMs] before each start of a service that has died soon after its start; the last
 *   one holds for all further ones
 * @property {(instance: { service: ServiceName, name: string, env: NodeJS.ProcessEnv }) => Command} [launch] the command that
 *   starts an instance with this environment; the one of this repository by default
 * @property {import('../progress.mjs').Progress} [log]
 *
 * @param {ServicesRequest} request
 */
export async function startServices(request) {
  const services = new Services(request);
  await services.start().catch(async (error) => {
    await services.stop();
    throw error;
  });
  return services;
}

export class Services {
  #request;
  #facts;
  #isStopping = false;
  /** @type {RunningProgram[]} */
  all = [];

  /** @param {ServicesRequest} request */
  constructor(request) {
    this.#request = { ...defaults, env: process.env, ...request };
  }

  async start() {
    const { instances, infrastructure, adminKey, env, host } = this.#request;
    const named = instances.map((service, index) => ({ service, name: toName(instances, index) }));
    const placed = await Promise.all(named.map(async (one) => ({ ...one, port: await this.#findPort(one.name) })));
    const demoModel = placed.find(({ service }) => service === 'demo-model');
    const gateway = placed.find(({ service }) => service === 'gateway');
    this.#facts = {
      ...infrastructure,
      SECRETS_KEY: env.SECRETS_KEY || secretsKey(this.#request.dataDir),
      ...(adminKey && { RONDO_ADMIN_KEY: adminKey }),
      ...(demoModel && { DEMO_MODEL_URL: `http://${inUrl(host)}:${demoModel.port}` }),
      ...(gateway && { PREVIEW_URL: env.PREVIEW_URL || `http://*.localhost:${gateway.port}` }),
    };
    if (this.#isStopping) return;
    this.all = placed.map((one) => this.#create(one));
    const models = this.#startAll(this.all.filter(isModel));
    const callers = this.all.filter(callsModels);
    const others = this.all.filter((service) => !isModel(service) && !callsModels(service));
    await waitForEach([models.then(() => this.#startAll(callers)), this.#startAll(others)]);
  }

  /**
   * By instance: `agent-worker`, `agent-worker-2`.
   *
   * @param {string} name
   */
  get(name) {
    const service = this.all.find((candidate) => candidate.name === name);
    if (!service) throw new Error(`No service named ${name} was started.`);
    return service;
  }

  /** The model ends last: the workers then have their whole time to finish replies. */
  async stop() {
    this.#isStopping = true;
    await stopAll(this.all.filter((service) => !isModel(service)));
    await stopAll(this.all.filter(isModel));
  }

  async #findPort(name) {
    return this.#request.ports[name] ?? choosePort(undefined, this.#request.host);
  }

  #create({ service, name, port }) {
    const { launch, dataDir, supervise, restartDelaysMs } = this.#request;
    const url = toUrl(this.#toHost(service), port);
    return new SupervisedProcess({
      name,
      url,
      supervise,
      ...(restartDelaysMs && { restartDelaysMs }),
      kind: 'service',
      logFile: rotateLog(join(dataDir, 'logs', `${name}.log`)),
      pidFile: join(privateDirectory(join(dataDir, 'run')), `${name}.pid`),
      probe: () => probeReady(url),
      command: () => launch({ service, name, env: this.#toEnvironment({ service, name, port }) }),
    });
  }

  #toHost(service) {
    const { env, host } = this.#request;
    return (service === 'gateway' && env.HOST) || host;
  }

  #toEnvironment({ service, name, port }) {
    const { env, settings, dataDir } = this.#request;
    const facts = {
      ...this.#facts,
      ...this.toUrls(name),
      ...(service === 'tool-executor' && sandboxPaths(dataDir, name)),
    };
    return {
      ...serviceEnvironment(service, { inherited: env, facts }),
      HOST: this.#toHost(service),
      PORT: String(port),
      ...settings[service],
      ...settings[name],
    };
  }

  /**
   * The servers' URLs with this instance's own user names and passwords.
   *
   * @param {string} name
   * @returns {InfrastructureEnvironment}
   */
  toUrls(name) {
    const { dataDir, infrastructure } = this.#request;
    const { NATS_URL: nats, DATABASE_URL: database } = infrastructure;
    const service = toService(name);
    return {
      ...infrastructure,
      ...(nats && { NATS_URL: urlFor(toNatsUser(name, dataDir), { dataDir, server: 'nats', url: nats }) }),
      ...(database &&
        databaseServices.includes(service) && {
          DATABASE_URL: urlFor(roleOfUrl(service, database), { dataDir, server: 'postgres', url: database }),
        }),
    };
  }

  async #startAll(services) {
    if (this.#isStopping) return;
    await waitForEach(services.map((service) => this.#startOne(service)));
  }

  async #startOne(service) {
    const { log } = this.#request;
    const since = performance.now();
    await service.start().catch((error) => {
      log.failed({ name: service.name, ms: performance.now() - since, detail: error.message });
      throw new ReportedError(error);
    });
    log.done({ name: service.name, ms: performance.now() - since, detail: service.url });
  }
}

/** Rejects only when all have ended: then each service that a wrong setting keeps from starting has said so. */
async function waitForEach(starts) {
  const outcomes = await Promise.allSettled(starts);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

/** The command of a service that was built here. */
function launch({ service, env }) {
  return { file: process.execPath, args: [join('apps', service, 'dist/main.js')], cwd: repoRoot, env };
}

/** The URL of a service that listens on this address and port. */
function toUrl(listensOn, port) {
  return `http://${inUrl(reachable[listensOn] ?? listensOn)}:${port}`;
}

/** The servers are started before the services, so a service that is degraded has only not connected yet. */
async function probeReady(url) {
  const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) });
  const { degraded = [] } = await response.json();
  if (!response.ok || degraded.length > 0) throw new Error('not ready');
}

/** The second `gateway` is `gateway-2`. */
function toName(instances, index) {
  const ordinal = instances.slice(0, index + 1).filter((service) => service === instances[index]).length;
  return ordinal === 1 ? instances[index] : `${instances[index]}-${ordinal}`;
}

/** 32 bytes: those of the text, since a secret of a data directory has 32 characters. */
function secretsKey(dataDir) {
  return Buffer.from(secret(dataDir, 'secrets-key')).toString('base64');
}

function sandboxPaths(dataDir, name) {
  return { SANDBOX_ROOT: reachableDirectory(dataDir, 'sandboxes'), EXECUTOR_ID_FILE: executorIdFile(dataDir, name) };
}

/** A worker takes runs as soon as it is ready, so its model must be ready before it. */
const isModel = ({ name }) => toService(name) === 'demo-model';
const callsModels = ({ name }) => ['agent-worker', 'summarizer'].includes(toService(name));

const stopAll = (services) => Promise.all(services.map((service) => service.stop()));

const toService = (instance) => instance.replace(/-\d+$/, '');

/** Each executor is a user of its own, named by its id; all instances of another service are one user. */
function toNatsUser(name, dataDir) {
  if (executorInstances().includes(name)) return executorId(dataDir, name);
  if (name.startsWith('tool-executor')) throw new Error(`No more than ${executorInstances().length} executors here.`);
  return toService(name);
}
