import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../repo-root.mjs';
import { ProgramError, run } from '../run-program.mjs';
import { newHelmSecrets } from '../servers/secret-variables.mjs';
import { serverImage } from './image-store.mjs';
import { releaseName } from './kubectl.mjs';

const chart = join(repoRoot, 'deploy/helm/rondo');
const renderer = 'older-api';
/** Requests that fit on a small machine, whose processors other programs keep busy too. */
const resources = { requests: { cpu: '20m', memory: '64Mi' }, limits: { memory: '2Gi' } };

const values = {
  image: { prefix: 'localhost/rondo-', tag: 'latest', pullPolicy: 'Never' },
  bundled: {
    ...{ enabled: true, storage: '1Gi', nats: { replicas: 3 } },
    images: Object.fromEntries(['postgres', 'redis', 'nats'].map((server) => [server, serverImage(server)])),
  },
  gateway: { replicas: 2, resources },
  agentWorker: { replicas: 2, concurrency: 10, resources },
  summarizer: { resources },
  toolExecutor: { replicas: 2, storage: '1Gi', resources, sandbox: { limits: 'pod' } },
};

/** The chart on the cluster, installed by Helm itself: only its objects are translated for an older API. */
export class Release {
  #programs;
  #node;
  #home;

  constructor(programs, node, directory) {
    this.#programs = programs;
    this.#node = node;
    this.#home = join(directory, 'state/helm');
  }

  async install() {
    this.#prepare();
    const secrets = join(this.#home, 'rondo.env');
    writeFileSync(secrets, newHelmSecrets(), { mode: 0o600 });
    await this.#node.kubectl.run('create', 'secret', 'generic', 'rondo', `--from-env-file=${secrets}`);
    await this.upgrade();
  }

  /** Installs or upgrades with these values over the usual ones, and waits until all pods are ready. */
  async upgrade(...settings) {
    const sets = settings.flatMap((set) => ['--set', set]);
    const place = [releaseName, join(this.#home, 'chart'), '--values', join(this.#home, 'values.json')];
    await this.#helm(
      'upgrade',
      '--install',
      ...place,
      ...sets,
      '--post-renderer',
      renderer,
      '--wait',
      '--timeout',
      '10m',
    );
  }

  test() {
    return this.#helm('test', releaseName, '--timeout', '5m');
  }

  rollback() {
    return this.#helm('rollback', releaseName, '--wait', '--timeout', '10m');
  }

  async #helm(...args) {
    const homes = {
      HELM_CACHE_HOME: 'cache',
      HELM_CONFIG_HOME: 'config',
      HELM_DATA_HOME: 'data',
      HELM_PLUGINS: 'plugins',
    };
    const env = {
      ...process.env,
      KUBECONFIG: this.#node.kubeConfig,
      ...Object.fromEntries(Object.entries(homes).map(([name, folder]) => [name, join(this.#home, folder)])),
    };
    const { stdout } = await run(this.#programs.files.helm, ['--namespace', 'rondo', ...args], { env }).catch(
      async (error) => {
        if (!(error instanceof ProgramError)) throw error;
        throw new Error(`${error.message}\n${await this.#node.kubectl.run('get', 'pods', '--output', 'wide')}`);
      },
    );
    return stdout;
  }

  /** The chart as it is, but for the version of Kubernetes that it asks for, and what translates its objects. */
  #prepare() {
    rmSync(this.#home, { recursive: true, force: true });
    const copy = join(this.#home, 'chart');
    const plugin = join(this.#home, 'plugins', renderer);
    mkdirSync(plugin, { recursive: true });
    cpSync(chart, copy, { recursive: true });
    const file = join(copy, 'Chart.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^kubeVersion:.*\n/m, ''));
    writeFileSync(join(this.#home, 'values.json'), JSON.stringify(values));
    const program = join(import.meta.dirname, 'post-renderer.mjs');
    const description = {
      ...{ apiVersion: 'v1', type: 'postrenderer/v1', name: renderer, version: '0.1.0', runtime: 'subprocess' },
      runtimeConfig: { platformCommand: [{ command: process.execPath, args: [program] }] },
    };
    writeFileSync(join(plugin, 'plugin.yaml'), JSON.stringify(description));
  }
}
