import { type DeploymentRequest, RondoClient, RunningRondo } from '@rondo/test-deployment';
import { choosePort } from '../../../deploy/local/servers/free-port.mjs';
import { type RunningConsole, openConsole } from './console-browser';

type Configure = () => DeploymentRequest | Promise<DeploymentRequest>;

const started = new Map<Configure, Promise<RunningRondo>>();
const ports = Array.from({ length: 10 }, () => choosePort());
const remaining = [...ports];
/** Of a page of another origin, which may call the API of the ordinary deployment. */
export const pagePort = choosePort();
export const slowJudge = 'demo/judge:delay_ms=500';
const price = [{ input: 1, output: 8 }];
const prices = { MODEL_PRICES: JSON.stringify({ 'demo/scripted': price, 'demo/judge': price, [slowJudge]: price }) };

/** Of the services that tools of the adjusted deployment ask. */
export const servicePort = choosePort();
export const serviceKey = 'rapid-key-of-the-test';
/** Of a provider that no spec asks. */
export const modelKey = 'sk-of-the-provider-1234567890';
const listInternal = async () => (await Promise.all(ports)).map((port) => `127.0.0.1:${port}`).join();

const ordinary: Configure = async () => ({
  settings: {
    gateway: { ALLOWED_ORIGINS: `http://localhost:${await pagePort}` },
    'agent-worker': { COMPACTION_PATIENCE_MS: '6000' },
  },
});
/** Models that quick starts of other vendors name. */
const vendorModels = {
  'gpt-5.5': 'demo/scripted',
  'gpt-5.6-luna': 'demo/scripted',
  'claude-opus-4-8': 'demo/scripted',
};

const paired: Configure = async () => {
  const hosts = await listInternal();
  const documented = '127.0.0.1:8787'; // where the program of docs/webhooks.md listens
  return {
    instances: ['demo-model', 'tool-executor', 'agent-worker', 'agent-worker', 'gateway', 'gateway'],
    settings: {
      gateway: {
        WEBHOOK_INTERNAL_HOSTS: `${hosts},${documented}`,
        SCHEDULE_LEAST_INTERVAL_S: '1',
        MODEL_ALIASES: JSON.stringify(vendorModels),
      },
      'agent-worker': { IMAGE_INTERNAL_HOSTS: hosts },
      'tool-executor': { SANDBOX_INTERNAL_HOSTS: hosts },
    },
  };
};
const adjusted: Configure = async () => {
  const service = `127.0.0.1:${await servicePort}`;
  const url = `http://${service}`;
  const SANDBOX_INTERNAL_HOSTS = `${await listInternal()},${service}`;
  return {
    instances: ['demo-model', 'tool-executor', 'agent-worker', 'gateway'],
    settings: {
      gateway: { SANDBOX_INTERNAL_HOSTS },
      'agent-worker': { MODEL_ATTEMPTS: '10', OPENAI_API_KEY: modelKey, RETENTION_EVERY_MS: '200' },
      'tool-executor': {
        SANDBOX_INTERNAL_HOSTS,
        SANDBOX_RECONCILE_S: '1',
        SANDBOX_REWIND_MB: '256',
        SANDBOX_WARM: '1',
        ...{ SEARXNG_URL: url, RAPIDAPI_KEY: serviceKey, RAPIDAPI_URL: url, TRANSCRIPTION_URL: url },
      },
    },
  };
};
const priced: Configure = () => ({
  instances: ['demo-model', 'tool-executor', 'agent-worker', 'agent-worker', 'gateway'],
  settings: { gateway: prices, 'agent-worker': prices },
});

/**
 * A deployment with one instance of each service and the usual settings, for the specs of the folder `ordinary`. It is started
 * once for a file of specs, which `deploy/local/tests/spec-groups.mjs` makes of those of a folder, since a start costs eight seconds
 * of a core. So a spec asks only for what it has created itself, best for an account of its own. It may kill services: the next
 * one begins when all run again.
 */
export const ordinaryDeployment = (): Promise<RunningRondo> => share(ordinary);

/**
 * The same with two of all that a run needs, so that one can be killed, or asked what the other one has done. Its services may
 * reach what listens on an `internalPort`, and its schedules may be due every second.
 */
export const startPaired = (): Promise<RunningRondo> => share(paired);

/** It, and clients of a new account at its two gateways. */
export async function createPairedClients() {
  const rondo = await startPaired();
  const client = await newAccount(rondo);
  return { rondo, client, other: atOtherGateway(rondo, client) };
}

/** For one server of a spec. */
export async function internalPort(): Promise<number> {
  const port = await remaining.pop();
  if (port === undefined) throw new Error('the specs of this file have more servers than ports');
  return port;
}

/**
 * The settings that single specs need and that do not disturb each other: how often a provider is asked and deletions are carried
 * out, states of workspaces, a prepared sandbox, services that tools ask, and hosts that sandboxes and connections may reach.
 */
export const startAdjusted = (): Promise<RunningRondo> => share(adjusted);

/** Two workers, and models that cost something. */
export const startPriced = (): Promise<RunningRondo> => share(priced);

/** A client for an account of its own, whose lists hold nothing of other specs. */
export async function newAccount(rondo: RunningRondo): Promise<RondoClient> {
  return (await rondo.client().newAccount('A spec')).client;
}

/** The same account at the second gateway. */
export function atOtherGateway(rondo: RunningRondo, { key }: RondoClient): RondoClient {
  return new RondoClient(rondo.client('gateway-2').url, key);
}

/** A browser of its own, signed in to an account of its own. */
export async function ordinaryConsole(): Promise<RunningConsole> {
  const rondo = await ordinaryDeployment();
  return openConsole(rondo, await newAccount(rondo));
}

/** Whichever of the two workers has a run. */
export async function killWorkers({ services }: RunningRondo): Promise<void> {
  await Promise.all(['agent-worker', 'agent-worker-2'].map((name) => services.get(name).kill()));
}

async function share(configure: Configure): Promise<RunningRondo> {
  const starting =
    started.get(configure) ?? Promise.resolve(configure()).then((request) => RunningRondo.start(request));
  started.set(configure, starting);
  const deployment = await starting;
  await Promise.all(deployment.services.all.map((service) => service.start()));
  return deployment;
}

afterAll(async () => {
  for (const deployment of await Promise.all(started.values()))
    try {
      expect(await deployment.violations()).toEqual([]); // I6, by all runs of the file
    } finally {
      await deployment.stop();
    }
});
