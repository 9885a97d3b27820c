import { RunningRondo } from '@rondo/test-deployment';

let started: Promise<RunningRondo> | undefined;

/**
 * A deployment with one instance of each service that runs agents, with the usual settings. It is started once for a spec
 * file: once for all specs of this folder where `ordinary.e2e-spec.ts` holds them, since a start costs eight seconds of a
 * core. So a spec of this folder leaves everything running, and asks only for what it has created itself.
 */
export function ordinaryDeployment(): Promise<RunningRondo> {
  started ??= RunningRondo.start({ instances: ['demo-model', 'tool-executor', 'agent-worker', 'gateway'] });
  return started;
}

afterAll(async () => {
  const deployment = await started;
  try {
    expect(await deployment?.violations()).toEqual([]); // I6, by all runs of the file
  } finally {
    await deployment?.stop();
  }
});
