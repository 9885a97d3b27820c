import { existsSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type Finding, broken, ok, skip, warning } from './finding';

const minimum = [20, 19];

/** `version` as `20.19.3`. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > (minimum[0] ?? 0) || (major === minimum[0] && minor >= (minimum[1] ?? 0));
  return isEnough
    ? ok('node', version)
    : broken('node', [`${version}, older than 20.19`, 'Install Node 20.19 or newer.']);
}

const neededBytes = 2 * 1024 ** 3;

export async function checkDisk(folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GiB free in ${folder}`;
  return free < neededBytes
    ? warning('disk', [found, 'Postgres and sandboxes stop when the disk is full: free some.'])
    : ok('disk', found);
}

interface Settings {
  readonly name: string;
  readonly refuses: (value: string) => boolean;
  readonly advice: string;
}

/** What keeps bubblewrap from making a user namespace. */
const kernel: readonly Settings[] = [
  {
    name: 'kernel/unprivileged_userns_clone',
    refuses: (value) => value === '0',
    advice: 'sudo sysctl -w kernel.unprivileged_userns_clone=1',
  },
  {
    name: 'kernel/apparmor_restrict_unprivileged_userns',
    refuses: (value) => value === '1',
    advice: 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap',
  },
  {
    name: 'user/max_user_namespaces',
    refuses: (value) => value === '0',
    advice: 'sudo sysctl -w user.max_user_namespaces=10000',
  },
];

/** Of a gateway on this machine. `isRoot`: root needs none of these. */
export function checkKernel({ folder = '/proc/sys', isRoot = process.getuid?.() === 0 } = {}): Finding {
  if (process.platform !== 'linux') return skip('user namespaces', `not on ${process.platform}`);
  const needed = kernel.filter(({ name }) => !isRoot || name === 'user/max_user_namespaces');
  const wrong = needed.find(({ name, refuses }) => {
    const file = join(folder, name);
    return existsSync(file) && refuses(readFileSync(file, 'utf8').trim());
  });
  if (!wrong) return ok('user namespaces', 'allowed');
  return broken('user namespaces', [`refused by ${wrong.name.replace('/', '.')}`, wrong.advice]);
}

/** In each line of the tool-executor that says whether sandboxes work. */
const told = /"msg":"(sandboxes (un)?available|commands run WITHOUT ISOLATION)/;

/** What the tool-executor of `npm start` said when it tried last: it tries again, since the machine may have been mended. */
export function checkIsolation(logFile: string): Finding {
  if (!existsSync(logFile)) return skip('isolation', 'no tool-executor of npm start has run here');
  const line = readFileSync(logFile, 'utf8')
    .split('\n')
    .findLast((text) => told.test(text));
  if (!line?.includes('"sandboxes unavailable"')) return ok('isolation', 'the tool-executor did not complain');
  const { reason = '', advice = '' } = JSON.parse(line) as { reason?: string; advice?: string }; // a line that npm start reads, too
  return broken('isolation', [reason.trim(), advice.replaceAll(/\s+/g, ' ').trim()]);
}
