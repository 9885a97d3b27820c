import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { removeContainers } from '../containers/containers.mjs';
import { run } from '../run-program.mjs';
import { clusterDomain, nodeName } from './addresses.mjs';
import { Kubectl, isReady } from './kubectl.mjs';
import { createNetwork, removeNetwork } from './network.mjs';
import { NodeServers } from './node-servers.mjs';
import { waitUntil } from './wait-until.mjs';

const volumes = 8;
const namesEveryMs = 1_000;
const logsOfPods = ['/var/log/pods', '/var/log/containers'];
const controlGroups = '/sys/fs/cgroup';

/** One node with its control plane. It goes on when the command ends, until `stop`; each start begins with an empty cluster. */
export class Node {
  #directory;
  #programs;
  #servers;

  constructor(programs, directory) {
    this.#directory = directory;
    this.#programs = programs;
    this.#servers = new NodeServers(programs, directory);
    this.kubectl = new Kubectl(programs.files.kubectl, this.#servers.kubeConfig);
  }

  get kubeConfig() {
    return this.#servers.kubeConfig;
  }

  async startControlPlane() {
    await createNetwork();
    await this.#servers.startControlPlane();
    await this.kubectl.run('create', 'namespace', 'rondo');
    await this.kubectl.apply(this.#volumes());
  }

  startContainerd() {
    return this.#servers.startContainerd();
  }

  async join() {
    await this.#servers.startNode();
    await waitUntil('the node is ready', async () => isReady(await this.kubectl.json('get', 'node', nodeName)));
  }

  /** Runs a command of containerd's own client and resolves with what it prints. */
  async ctr(...args) {
    const { stdout } = await run(this.#programs.files.ctr, [
      '--address',
      this.#servers.socket,
      '--namespace',
      'k8s.io',
      ...args,
    ]);
    return stdout;
  }

  /** Keeps the names of Services, and of the pods of headless ones, known to all pods, until `stop` of what it returns. */
  publishNames() {
    const naming = setInterval(() => void this.#writeNames().catch(() => undefined), namesEveryMs);
    return { stop: () => Promise.resolve(clearInterval(naming)) };
  }

  async #writeNames() {
    const { items } = await this.kubectl.json('get', 'services,endpoints', '--all-namespaces');
    const lines = items.flatMap(({ metadata, spec, subsets = [] }) => {
      const name = `${metadata.name}.${metadata.namespace}.svc.${clusterDomain}\n`;
      const ofPods = subsets.flatMap(({ addresses = [] }) => addresses.filter(({ hostname }) => hostname));
      return [
        ...(spec?.clusterIP && spec.clusterIP !== 'None' ? [`${spec.clusterIP} ${name}`] : []),
        ...ofPods.map(({ ip, hostname }) => `${ip} ${hostname}.${name}`),
      ];
    });
    writeFileSync(this.#servers.hosts, lines.sort().join(''));
  }

  /** Ends everything that runs, and removes all state but images. */
  async stop() {
    await this.#servers.stop(['containerd']);
    for (const id of await this.#listed('tasks')) {
      await this.ctr('tasks', 'kill', '--all', '--signal', 'SIGKILL', id).catch(() => undefined);
      await this.ctr('tasks', 'delete', '--force', id).catch(() => undefined);
    }
    for (const id of await this.#listed('containers')) await this.#remove(id);
    await this.#servers.stop();
    await removeNetwork();
    await removeContainers(join(this.#directory, 'state'));
    await removeContainers(join(this.#directory, 'containerd/run'));
    removeTracesOfPods();
  }

  /** Empty if containerd does not run. */
  async #listed(kind) {
    if (!existsSync(this.#servers.socket)) return [];
    const listed = await this.ctr(kind, 'list', '--quiet').catch(() => '');
    return listed.split('\n').filter(Boolean);
  }

  /** With the network namespace that a pod had. */
  async #remove(container) {
    const { Spec } = JSON.parse(await this.ctr('containers', 'info', container));
    const { path } = Spec.linux.namespaces.find(({ type }) => type === 'network') ?? {};
    await this.ctr('containers', 'delete', container).catch(() => undefined);
    if (path && existsSync(path) && path.includes('/netns/')) await run('ip', ['netns', 'delete', basename(path)]);
  }

  /** Folders of this machine. The cluster has nothing that makes volumes, so claims find these. */
  #volumes() {
    return Array.from({ length: volumes }, (_, index) => {
      const path = join(this.#directory, 'state/volumes', String(index));
      mkdirSync(path, { recursive: true });
      chmodSync(path, 0o777); // as a volume with the group of its pod
      return {
        ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `volume-${index}` } },
        spec: { capacity: { storage: '100Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path } },
      };
    });
  }
}

/** kubelet knows no other place for logs, and leaves the control groups of pods behind. */
function removeTracesOfPods() {
  for (const folder of logsOfPods.filter(existsSync))
    for (const name of readdirSync(folder).filter((entry) => /rondo/.test(entry)))
      rmSync(join(folder, name), { recursive: true });
  for (const controller of readdirSync(controlGroups)) removeGroups(join(controlGroups, controller, 'kubepods'));
}

function removeGroups(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroups(join(folder, entry.name));
  try {
    rmdirSync(folder);
  } catch {
    // a process ends at this moment; an empty group does no harm
  }
}
