import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../run-program.mjs';
import { addresses, clusterDomain, nodeName } from './addresses.mjs';
import { Daemon } from './daemon.mjs';
import { inNetwork } from './network.mjs';

const { node, services, pods } = addresses;
const etcdUrl = 'http://127.0.0.1:2379';
/** A pod may have an unmasked /proc, which sandboxes need. */
const gates = '--feature-gates=ProcMountType=true';
/** In the order of their start. */
const names = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'dnsmasq',
  'containerd',
  'kubelet',
  'kube-proxy',
];

/** The programs of a node that is also the control plane. Their state is below `state`, which is made anew with every start. */
export class NodeServers {
  #programs;
  #directory;

  constructor(programs, directory) {
    this.#programs = programs;
    this.#directory = directory;
  }

  get kubeConfig() {
    return this.#path('state/admin.conf');
  }

  get hosts() {
    return this.#path('state/hosts/services');
  }

  get socket() {
    return this.#path('containerd/run/containerd.sock');
  }

  async startControlPlane() {
    this.#writeSecrets();
    const kubectl = () =>
      run(this.#programs.files.kubectl, ['--kubeconfig', this.kubeConfig, 'get', '--raw', '/readyz']);
    await this.#start('etcd', ['--data-dir', this.#path('state/etcd'), '--unsafe-no-fsync']);
    await this.#start('kube-apiserver', this.#apiServer(), kubectl);
    await this.#start('kube-controller-manager', this.#controllers());
    await this.#start('kube-scheduler', ['--kubeconfig', this.kubeConfig, '--port=0']);
    await this.#start('dnsmasq', this.#dns());
  }

  async startContainerd() {
    const file = this.#path('state/containerd.toml');
    writeFileSync(file, this.#containerd());
    const ctr = () => run(this.#programs.files.ctr, ['--address', this.socket, 'version']);
    await this.#start('containerd', ['--config', file], ctr);
  }

  async startNode() {
    await this.#start('kubelet', this.#kubelet());
    await this.#start('kube-proxy', this.#proxy());
  }

  /** Ends them in reverse order. */
  async stop(omit = []) {
    for (const name of names.toReversed()) if (!omit.includes(name)) await new Daemon(this.#directory, name).stop();
  }

  #start(name, args, probe) {
    const command = inNetwork(this.#programs.files[name], args);
    return new Daemon(this.#directory, name).start(command, { env: this.#programs.toEnv(name), probe });
  }

  #path(name) {
    return join(this.#directory, name);
  }

  /** Everything that the API knows by name is one user, whose token only this directory has. */
  #writeSecrets() {
    for (const folder of ['state/hosts', 'state/network'])
      mkdirSync(this.#path(folder), { recursive: true, mode: 0o700 });
    const token = randomBytes(24).toString('hex');
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    const secrets = {
      'state/tokens.csv': `${token},admin,admin,system:masters\n`,
      'state/accounts.key': privateKey,
      'state/accounts.pub': publicKey,
      'state/admin.conf': JSON.stringify(this.#clientConfiguration(token)),
      'state/network/10-bridge.conflist': JSON.stringify(toNetwork(this.#path('state/addresses'))),
      'state/hosts/services': '',
    };
    for (const [name, text] of Object.entries(secrets)) writeFileSync(this.#path(name), text, { mode: 0o600 });
  }

  #clientConfiguration(token) {
    const cluster = {
      server: `https://${node}:6443`,
      'certificate-authority': this.#path('state/certificates/apiserver.crt'),
    };
    const context = { cluster: 'rondo', user: 'admin' };
    return {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'rondo' },
      clusters: [{ name: 'rondo', cluster }],
      users: [{ name: 'admin', user: { token } }],
      contexts: [{ name: 'rondo', context }],
    };
  }

  #apiServer() {
    return [
      ...[`--etcd-servers=${etcdUrl}`, '--secure-port=6443', `--advertise-address=${node}`, `--bind-address=${node}`],
      ...[`--cert-dir=${this.#path('state/certificates')}`, `--token-auth-file=${this.#path('state/tokens.csv')}`],
      ...['--service-account-issuer=https://kubernetes.default', '--api-audiences=api'],
      `--service-account-key-file=${this.#path('state/accounts.pub')}`,
      `--service-account-signing-key-file=${this.#path('state/accounts.key')}`,
      ...['--authorization-mode=RBAC', `--service-cluster-ip-range=${services}`, '--allow-privileged=true', gates],
      '--kubelet-preferred-address-types=InternalIP',
    ];
  }

  /** Scaling is looked at every 3 s, not every 15 s, so that its proof takes less time. */
  #controllers() {
    return [
      ...['--kubeconfig', this.kubeConfig, '--port=0', '--horizontal-pod-autoscaler-sync-period=3s'],
      `--service-account-private-key-file=${this.#path('state/accounts.key')}`,
    ];
  }

  #dns() {
    return [
      ...['--keep-in-foreground', '--conf-file=/dev/null', '--no-resolv', '--no-hosts', '--pid-file=', '--user=root'],
      ...[
        `--listen-address=${node}`,
        '--bind-interfaces',
        `--hostsdir=${this.#path('state/hosts')}`,
        '--log-facility=-',
      ],
      ...[`--local=/${clusterDomain}/`, '--no-negcache'],
    ];
  }

  #kubelet() {
    return [
      ...[
        '--kubeconfig',
        this.kubeConfig,
        '--container-runtime=remote',
        `--container-runtime-endpoint=unix://${this.socket}`,
      ],
      ...['--cgroup-driver=cgroupfs', '--fail-swap-on=false', `--hostname-override=${nodeName}`, `--node-ip=${node}`],
      ...['--eviction-hard=', '--oom-score-adj=0', '--enforce-node-allocatable=', '--max-open-files=20000'],
      ...['--resolv-conf=', `--cluster-dns=${node}`, `--cluster-domain=${clusterDomain}`, gates],
      ...[`--root-dir=${this.#path('state/kubelet')}`, `--cert-dir=${this.#path('state/kubelet-certificates')}`],
      ...[`--volume-plugin-dir=${this.#path('state/volume-plugins')}`, '--image-gc-high-threshold=100'],
    ];
  }

  #proxy() {
    const untouched = ['max-per-core', 'tcp-timeout-established', 'tcp-timeout-close-wait'];
    return [
      ...['--kubeconfig', this.kubeConfig, '--proxy-mode=iptables', `--cluster-cidr=${pods}`],
      ...[`--hostname-override=${nodeName}`, '--oom-score-adj=0'],
      ...untouched.map((name) => `--conntrack-${name}=0`),
    ];
  }

  /** Its images stay from one start to the next. */
  #containerd() {
    const text = (value) => JSON.stringify(value);
    return `version = 2
root = ${text(this.#path('containerd/root'))}
state = ${text(this.#path('containerd/run'))}
[grpc]
  address = ${text(this.socket)}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${text(this.#programs.networkPlugins)}
    conf_dir = ${text(this.#path('state/network'))}
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
`;
  }
}

/** A route to each pod instead of a bridge: packets between pods then pass through the rules of Services, too. */
const toNetwork = (dataDir) => ({
  cniVersion: '0.3.1',
  name: 'pods',
  plugins: [
    {
      type: 'ptp',
      ipam: { type: 'host-local', subnet: pods.replace('/16', '/24'), routes: [{ dst: '0.0.0.0/0' }], dataDir },
    },
  ],
});
