import { RondoClient, RunningRondo } from '@rondo/test-deployment';
import { ConsoleBrowser, type RunningConsole } from '../console-browser';

let started: Promise<RunningRondo> | undefined;

/**
 * A deployment with one instance of each service and the usual settings. It is started once for a spec file: once for many
 * specs of this folder where a file `ordinary….e2e-spec.ts` holds them, since a start costs eight seconds of a core. So a
 * spec of this folder leaves everything running, and asks only for what it has created itself.
 */
export function ordinaryDeployment(): Promise<RunningRondo> {
  started ??= RunningRondo.start();
  return started;
}

/** A client for an account of its own, whose lists hold nothing of other specs. */
export async function newAccount(rondo: RunningRondo): Promise<RondoClient> {
  const operator = rondo.client();
  const { api_key } = await operator.json<{ api_key: string }>('POST', '/admin/accounts', { name: 'A spec' });
  return new RondoClient(operator.url, api_key);
}

/** A browser of its own, signed in to an account of its own. */
export async function ordinaryConsole(): Promise<RunningConsole> {
  const rondo = await ordinaryDeployment();
  const client = await newAccount(rondo);
  const browser = await ConsoleBrowser.start(rondo, client);
  await browser.signIn();
  return { rondo, client, browser, page: browser.page };
}

afterAll(async () => {
  const deployment = await started;
  try {
    expect(await deployment?.violations()).toEqual([]); // I6, by all runs of the file
  } finally {
    await deployment?.stop();
  }
});
