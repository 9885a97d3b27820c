import { connect } from 'node:net';
import { type Rondo, RondoError } from '@rondo/client';
import { isOfGateway } from '../config';
import { type Finding, broken, toMessage, ok, skip, warning } from './finding';

const patienceMs = 3_000;

const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(patienceMs) });

/** Whether anything accepts connections there. */
const isTaken = ({ hostname, port, protocol }: URL): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({
      host: hostname,
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
      timeout: patienceMs,
    });
    const end = (taken: boolean) => {
      socket.destroy();
      resolve(taken);
    };
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false));
  });

export async function checkGateway(url: string): Promise<Finding> {
  if (!isOfGateway(url)) return broken('gateway', [`${url} is no URL`, 'It begins with http:// or https://.']);
  const live = await get(`${url}/health/live`).then(
    async (response) => ({ status: response.status, text: await response.text(), date: response.headers.get('Date') }),
    () => undefined,
  );
  if (live?.text.includes('"live"')) return toClock(url, live.date);
  if (live || (await isTaken(new URL(url)))) {
    const port = Number(new URL(url).port || 3000) + 100;
    return broken('gateway', [`${url} is another program`, `Start Rondo on another port: PORT=${port} npm start`]);
  }
  return broken('gateway', [`nothing listens at ${url}`, 'npm start, or --url for a gateway elsewhere']);
}

/** A wrong clock makes signatures of webhooks invalid, and times confusing. */
function toClock(url: string, date: string | null): Finding {
  const seconds = date === null ? 0 : Math.round((Date.parse(date) - Date.now()) / 1000);
  return Math.abs(seconds) > 5
    ? warning('gateway', [`${url} answers; its clock is ${seconds} s from the one here`, 'Set both clocks by NTP.'])
    : ok('gateway', `${url} answers`);
}

const advice: Readonly<Record<string, string>> = {
  postgres: 'DATABASE_URL, or .data/logs/postgres.log of npm start; nothing works without it',
  redis: 'REDIS_URL, or .data/logs/redis.log of npm start; until then runs are accepted and wait',
  nats: 'NATS_URL, or .data/logs/nats.log of npm start; until then runs show their facts, but no live text, and tools wait',
};

/** Postgres, Redis and NATS, as the gateway reaches them. */
export async function checkServers(url: string): Promise<Finding[]> {
  const body = (await (await get(`${url}/health/ready`)).json()) as { failing?: string[]; degraded?: string[] }; // see /health/ready
  const away = [...(body.failing ?? []), ...(body.degraded ?? [])];
  return Object.entries(advice).map(([name, text]) =>
    away.includes(name) ? broken(name, ['the gateway cannot reach it', text]) : ok(name, 'reachable from the gateway'),
  );
}

export async function checkKey(rondo: Rondo): Promise<Finding> {
  try {
    for await (const _ of rondo.runs.list({ limit: 1 })) break;
  } catch (error) {
    const isKey = error instanceof RondoError && (error.status === 401 || error.status === 403);
    return broken('key', [
      toMessage(error),
      isKey ? '--key, RONDO_API_KEY, or .data/api-key of npm start' : 'Try again.',
    ]);
  }
  const isAdmin = await listsKeys(rondo);
  return ok('key', isAdmin ? 'accepted; it may manage keys' : 'accepted');
}

async function listsKeys(rondo: Rondo): Promise<boolean> {
  try {
    for await (const _ of rondo.apiKeys.list({ limit: 1 })) break;
    return true;
  } catch (error) {
    if (error instanceof RondoError && error.status === 403) return false;
    throw error;
  }
}

const scripted: readonly string[] = ['demo', 'demo-anthropic'];

export async function checkModels(rondo: Rondo): Promise<Finding> {
  const providers = (await rondo.modelProviders()).filter((name) => !scripted.includes(name));
  if (providers.length > 0) return ok('models', providers.join(', '));
  return warning('models', ['only the scripted demo models', 'rondo setup asks for a key and tests it']);
}

/** Workers, summarizers and executors, as the page Health of the console sees them. */
export async function checkProcesses(rondo: Rondo): Promise<Finding[]> {
  try {
    const { findings = [] } = await rondo.deploymentHealth();
    if (findings.length === 0) return [ok('processes', 'workers, summarizers and executors give signs of life')];
    return findings.map((text) => broken('processes', [text, 'the page Health of the console has the whole']));
  } catch (error) {
    if (error instanceof RondoError && error.status === 403)
      return [skip('processes', 'needs an admin key of the account that operates the deployment')];
    throw error;
  }
}
