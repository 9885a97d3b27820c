import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { reachableDirectory } from '../processes/data-directory.mjs';
import { DebianPackages } from '../install/debian-packages.mjs';
import { findProgram } from '../install/find-program.mjs';
import { choosePort } from './free-port.mjs';
import { run } from '../run-program.mjs';
import { rotateLog, SupervisedProcess } from '../processes/supervised-process.mjs';

const readAgainMs = 200;

/** Prometheus and promtool: those of this machine, or Debian's package, unpacked below `packagesDirectory` without root. */
export async function prometheusPrograms({ packagesDirectory, path = process.env.PATH }) {
  const [prometheus, promtool] = ['prometheus', 'promtool'].map((name) => findProgram([name], path));
  if (prometheus && promtool) return { prometheus, promtool, env: {} };
  const packages = new DebianPackages(reachableDirectory(packagesDirectory, 'packages'));
  try {
    const wanted = { packages: ['prometheus'], programs: ['prometheus', 'promtool'] };
    const { programs, env } = await packages.unpack('prometheus', wanted);
    return {
      prometheus: join(programs.prometheus, 'prometheus'),
      promtool: join(programs.promtool, 'promtool'),
      env,
    };
  } finally {
    packages.forget();
  }
}

/** A Prometheus for tests: it reads the targets' metrics every three seconds, the least that a service with a dead dependency needs to answer, and evaluates the rules every second. */
export class PrometheusServer {
  #process;

  /** @param {SupervisedProcess} process */
  constructor(process) {
    this.#process = process;
  }

  get url() {
    return this.#process.url;
  }

  /**
   * Resolves when it has read every target once, so that no later event is the first that it sees. Its data, logs and process
   * file are below `directory`; `name` of a target becomes the label `instance`, and `rules` is a file of rules, as YAML.
   *
   * @param {{
   *   directory: string,
   *   packagesDirectory: string,
   *   targets: readonly { name: string, url: string }[],
   *   rules: string,
   * }} request
   * @returns {Promise<PrometheusServer>}
   */
  static async start({ directory, packagesDirectory, targets, rules }) {
    const data = join(directory, 'prometheus');
    mkdirSync(data, { recursive: true });
    const { prometheus, env } = await prometheusPrograms({ packagesDirectory });
    const configuration = join(data, 'prometheus.yml');
    const ruleFile = join(data, 'rules.yml');
    writeFileSync(ruleFile, rules);
    writeFileSync(configuration, JSON.stringify(toConfiguration(targets, ruleFile))); // JSON is YAML
    const port = await choosePort();
    const url = `http://127.0.0.1:${port}`;
    const server = new SupervisedProcess({
      name: 'prometheus',
      kind: 'server',
      url,
      logFile: rotateLog(join(directory, 'logs', 'prometheus.log')),
      pidFile: join(directory, 'run', 'prometheus.pid'),
      probe: () => probeReady(url),
      command: () => ({
        file: prometheus,
        args: [
          `--config.file=${configuration}`,
          `--storage.tsdb.path=${join(data, 'series')}`,
          `--web.listen-address=127.0.0.1:${port}`,
        ],
        env: { PATH: process.env.PATH, ...env },
      }),
    });
    await server.start();
    const started = new PrometheusServer(server);
    while ((await started.query('up == 1')).length < targets.length) await delay(readAgainMs);
    return started;
  }

  /**
   * The series of an expression now; rejects where it cannot be evaluated. A value is the time in seconds, and the figure.
   *
   * @typedef {{ metric: Readonly<Record<string, string>>, value: readonly [number, string] }} Series
   *
   * @param {string} expression
   * @returns {Promise<Series[]>}
   */
  async query(expression) {
    const { result } = await this.#ask(`query?query=${encodeURIComponent(expression)}`);
    return result;
  }

  /**
   * The names of all metrics that it has read.
   *
   * @returns {Promise<string[]>}
   */
  metricNames() {
    return this.#ask('label/__name__/values');
  }

  /**
   * The names of the alerts that fire.
   *
   * @returns {Promise<string[]>}
   */
  async firing() {
    const { alerts } = await this.#ask('alerts');
    return [...new Set(alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname))];
  }

  stop() {
    return this.#process.stop();
  }

  async #ask(path) {
    const response = await fetch(`${this.url}/api/v1/${path}`);
    const { status, data, error } = await response.json();
    if (status !== 'success') throw new Error(`Prometheus: ${error}`);
    return data;
  }
}

function toConfiguration(targets, ruleFile) {
  return {
    global: { scrape_interval: '3s', scrape_timeout: '3s', evaluation_interval: '1s' },
    rule_files: [ruleFile],
    scrape_configs: [
      {
        job_name: 'rondo',
        static_configs: targets.map(({ name, url }) => ({ targets: [new URL(url).host], labels: { instance: name } })),
      },
    ],
  };
}

async function probeReady(url) {
  const { ok } = await fetch(`${url}/-/ready`, { signal: AbortSignal.timeout(2_000) });
  if (!ok) throw new Error('not ready');
}

/**
 * Runs promtool; rejects with its output if it finds something wrong.
 *
 * @param {readonly string[]} args
 * @param {{ packagesDirectory: string, cwd?: string }} options
 * @returns {Promise<{ stdout: string, stderr: string }>}
 */
export async function promtool(args, { packagesDirectory, ...options }) {
  const programs = await prometheusPrograms({ packagesDirectory });
  return run(programs.promtool, args, { ...options, env: { PATH: process.env.PATH, ...programs.env } });
}
