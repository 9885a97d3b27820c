import { spawn } from 'node:child_process';
import { run } from '../run-program.mjs';

export const releaseName = 'rondo';
const namespace = 'rondo';
const label = (component) => `app.kubernetes.io/component=${component}`;

/** kubectl in the namespace of the release. */
export class Kubectl {
  #file;
  #options;

  constructor(file, kubeConfig) {
    this.#file = file;
    this.#options = ['--kubeconfig', kubeConfig, '--namespace', namespace];
  }

  async run(...args) {
    const { stdout } = await run(this.#file, [...this.#options, ...args]);
    return stdout.trim();
  }

  async json(...args) {
    return JSON.parse(await this.run(...args, '--output', 'json'));
  }

  /** Creates or changes these objects. */
  apply(objects) {
    return this.#send(['apply', '--filename', '-'], { apiVersion: 'v1', kind: 'List', items: objects });
  }

  /** Posts to a path below that of the namespace. */
  create(path, object) {
    return this.#send(['create', '--raw', `/api/v1/namespaces/${namespace}/${path}`, '--filename', '-'], object);
  }

  #send(args, object) {
    return new Promise((resolve, reject) => {
      const child = spawn(this.#file, [...this.#options, ...args], { stdio: ['pipe', 'ignore', 'pipe'] });
      let refusal = '';
      child.stderr.on('data', (chunk) => (refusal += chunk));
      child.on('error', reject);
      child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(refusal.trim()))));
      child.stdin.end(JSON.stringify(object));
    });
  }

  /** The pods of a component that are not about to end. */
  async pods(component) {
    const { items } = await this.json('get', 'pods', '--selector', label(component));
    return items.filter(({ metadata }) => !metadata.deletionTimestamp);
  }

  /** Resolves when every replica of the component is the newest and ready. */
  waitForRollout(component, kind = component === 'tool-executor' ? 'statefulset' : 'deployment') {
    return this.run('rollout', 'status', `${kind}/${releaseName}-${component}`, '--timeout=300s');
  }
}

export const isReady = ({ status }) =>
  (status.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True');
