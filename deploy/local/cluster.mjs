import { join } from 'node:path';
import { help, parseArguments } from './cluster/arguments.mjs';
import { ImageStore, imagesDirectory } from './cluster/image-store.mjs';
import { Node } from './cluster/node.mjs';
import { clusterPrograms, programsToStop } from './cluster/programs.mjs';
import { proofs } from './cluster/proofs/all-proofs.mjs';
import { Release } from './cluster/release.mjs';
import { runCommand } from './command.mjs';
import { removeContainers } from './containers/containers.mjs';
import { installPackages, requireNode } from './install/install.mjs';
import { step, terminal as log } from './progress.mjs';
import { repoRoot } from './repo-root.mjs';
import { GatewayClient } from './cluster/gateway-client.mjs';

const directory = join(repoRoot, '.data/cluster');
const names = proofs.map(({ name }) => name);

await runCommand(main, { log, codeWhenInterrupted: 130 });

async function main({ owns }) {
  const { action, only, keepImages } = parseArguments(process.argv.slice(2), names);
  if (action === 'help') return (log.note(help.replace('PROOFS', names.join(', '))), 0);
  if (process.getuid?.() !== 0) throw new Error('A cluster is started on this machine by root only.');
  await step(log, 'stop', { work: () => new Node(programsToStop(directory), directory).stop() });
  if (action === 'clean') await step(log, 'clean', { work: () => removeContainers(directory) });
  if (action !== 'prove') return 0;

  requireNode();
  await installPackages(repoRoot, log);
  const programs = await clusterPrograms({ directory, packagesDirectory: join(repoRoot, '.data/packages'), log });
  const node = new Node(programs, directory);
  const images = new ImageStore(directory, imagesDirectory);
  await step(log, 'images', { work: () => images.buildServices({ keep: keepImages }), detail: (text) => text });
  await step(log, 'servers', { work: () => images.buildServers() });
  await step(log, 'control plane', { work: () => node.startControlPlane() });
  await step(log, 'containerd', { work: () => node.startContainerd() });
  await step(log, 'import', { work: () => images.importInto((...args) => node.ctr(...args)), detail: (text) => text });
  await step(log, 'node', { work: () => node.join(), detail: () => 'ready' });
  owns(node.publishNames());
  const release = new Release(programs, node, directory);
  await step(log, 'helm install', { work: () => release.install(), detail: () => 'all pods are ready' });
  await proveAll(only, await readContext({ node, release, owns, directory, log }));
  log.note(`\nThe cluster goes on, until npm run cluster -- --down:  export KUBECONFIG=${node.kubeConfig}`);
  return 0;
}

async function proveAll(only, context) {
  for (const { name, prove } of proofs.filter((proof) => only.includes(proof.name)))
    await step(log, name, { work: () => prove(context), detail: (figures) => figures });
}

/** What a proof needs: the cluster, the release, clients of the gateways and of the servers. */
async function readContext({ node, release, owns, directory, log }) {
  const { kubectl } = node;
  const secret = async (key) => {
    const { data } = await kubectl.json('get', 'secret', 'rondo');
    return Buffer.from(data[key], 'base64').toString();
  };
  const readAddress = async (service) => (await kubectl.json('get', 'service', `rondo-${service}`)).spec.clusterIP;
  const [key, gateway] = [await secret('RONDO_ADMIN_KEY'), await readAddress('gateway')];
  return {
    ...{ node, kubectl, release, owns, directory, secret },
    client: () => new GatewayClient(`http://${gateway}`, key),
    serviceUrl: async (service, { user, password }) =>
      `postgresql://${user}:${password}@${await readAddress(service)}:5432/rondo`,
    note: (text) => log.note(`      ${text}`),
  };
}
