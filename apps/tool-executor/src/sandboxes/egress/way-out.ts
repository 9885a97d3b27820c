import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SandboxError } from '../provider/sandbox-error';
import { admitsAnything } from './destination';
import type { EgressGate, EgressGates } from './egress-gate';
import { EgressProxy } from './egress-proxy';
import { proxyPort, secretProxyPort } from './proxy-variables';
import { SecretRelay } from './secret-relay';

/** The sockets through which one sandbox reaches the network, on the host. */
export interface WayOut {
  readonly socketPath: string;
  /** For commands of runs with secrets. Undefined where sandboxes can use none. */
  readonly secretSocketPath: string | undefined;
  close(): Promise<unknown>;
}

/** Of which sandbox: its thread can change after its boot. */
interface WayOutUse {
  readonly threadId: () => string;
  /** Of the sockets, without their endings. */
  readonly path: string;
  readonly uid: number | undefined;
}

/** Undefined where the rules admit nothing. */
export async function openWayOut(egress: EgressGates, { threadId, path, uid }: WayOutUse): Promise<WayOut | undefined> {
  if (!admitsAnything(egress.rules)) return undefined;
  requireShortPath(dirname(path));
  const gate: Pick<EgressGate, 'admit'> = { admit: (target) => egress.of(threadId()).admit(target) };
  const plain = { proxy: new EgressProxy(gate), path: `${path}.sock` };
  const looking = egress.secrets && {
    proxy: new EgressProxy(gate, createRelay(egress, gate, threadId)),
    path: `${path}-secrets.sock`,
  };
  const all = [plain, ...(looking ? [looking] : [])];
  const close = () => Promise.all(all.map((one) => Promise.all([one.proxy.close(), rm(one.path, { force: true })])));
  try {
    for (const one of all) await one.proxy.listen(one.path, uid);
  } catch (error) {
    await close().catch(() => undefined); // the failure to report is the first one
    throw error;
  }
  return {
    socketPath: plain.path,
    secretSocketPath: looking?.path,
    close,
  };
}

/** Of a unix socket. Node cuts longer ones without a word, so that sandboxes would have none, or one together. */
const longestPath = 107;
const longestName = '/9999999999-secrets.sock';

function requireShortPath(directory: string): void {
  const surplus = Buffer.byteLength(`${directory}${longestName}`) - longestPath;
  if (surplus <= 0) return;
  throw new SandboxError(
    'unavailable',
    `The path ${directory} is ${surplus} bytes too long for sockets. Set TMPDIR of the executor to a shorter path.`,
  );
}

function createRelay(
  egress: EgressGates,
  gate: Pick<EgressGate, 'admit'>,
  threadId: () => string,
): SecretRelay | undefined {
  const { secrets: parts } = egress;
  if (!parts) return undefined;
  const secrets = () => egress.of(threadId()).secrets;
  return new SecretRelay({ gate, secrets, authority: parts.authority, hostAuthority: parts.hostAuthority });
}

/** What the agent listens to on the loopback of a sandbox, by the paths of the sockets in there. */
export const relaysTo = (
  { secretSocketPath }: WayOut,
  inside: { readonly socketPath: string; readonly secretSocketPath: string },
) => ({
  relay: { port: proxyPort, socketPath: inside.socketPath },
  ...(secretSocketPath !== undefined && {
    secretRelay: { port: secretProxyPort, socketPath: inside.secretSocketPath },
  }),
});
