import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repoRoot } from '../repo-root.mjs';
import { run } from '../run-program.mjs';
import { installTools } from './install-tools.mjs';

const enter = join(import.meta.dirname, 'enter.sh');

/** What programs in a folder see under the same paths: containers that they start mount it. */
const shared = [repoRoot, '/tmp', '/var/tmp'].join(':');
/** The index of `sid` is made so often that a mirror's copy may be older than it should be. */
const oldIndex = ['--aptopt=Acquire::Check-Valid-Until "false"'];
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LANG: 'C.UTF-8' };

/** A release of Debian in a folder, with packages that this machine does not have. Nothing is installed outside of it. As root. */
export class DebianFolder {
  #release;
  #packages;

  constructor(path, { release, packages }) {
    this.path = path;
    this.#release = release;
    this.#packages = packages;
  }

  /** Makes it once. */
  async make() {
    if (!existsSync(this.path)) {
      await installTools(['mmdebstrap']);
      mkdirSync(dirname(this.path), { recursive: true });
      const draft = mkdtempSync(`${this.path}-`);
      const include = `--include=${['ca-certificates', ...this.#packages].join(',')}`;
      await run('mmdebstrap', ['--variant=minbase', '--mode=root', ...oldIndex, include, this.#release, draft]);
      chmodSync(draft, 0o755);
      renameSync(draft, this.path);
    }
    for (const file of ['/etc/resolv.conf', '/etc/hosts', '/etc/ssl/certs/ca-certificates.crt'])
      copyFileSync(file, join(this.path, file));
  }

  /** Runs a program of the folder to its end. */
  run(args) {
    const [file, ...rest] = this.#command([], args);
    return run(file, rest, { env });
  }

  /** Starts a program of the folder, which ends with this process; with `ownNetwork` alone in a network namespace of its own. */
  start(args, { ownNetwork, log, variables }) {
    const command = this.#command(ownNetwork ? ['--net'] : [], args);
    const options = { env: { ...env, ...variables }, stdio: ['ignore', log, log], detached: true };
    return spawn('setpriv', ['--pdeathsig', 'TERM', ...command], options);
  }

  #command(namespaces, args) {
    return ['unshare', '--mount', ...namespaces, 'sh', enter, this.path, shared, ...args];
  }
}
