import { type RondoClient, RunningRondo } from '@rondo/test-deployment';
import { type RunningConsole, openConsole } from '../console-browser';

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
  return (await rondo.client().newAccount('A spec')).client;
}

/** A browser of its own, signed in to an account of its own. */
export async function ordinaryConsole(): Promise<RunningConsole> {
  const rondo = await ordinaryDeployment();
  return openConsole(rondo, await newAccount(rondo));
}

afterAll(async () => {
  const deployment = await started;
  try {
    expect(await deployment?.violations()).toEqual([]); // I6, by all runs of the file
  } finally {
    await deployment?.stop();
  }
});
