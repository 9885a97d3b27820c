import { drain } from './drain.mjs';
import { executorVolume } from './executor-volume.mjs';
import { killedPods } from './killed-pods.mjs';
import { natsLeader } from './nats-leader.mjs';
import { rollingUpgrade } from './rolling-upgrade.mjs';
import { scaling } from './scaling.mjs';

/** The test of the chart itself: a pod with the command line creates a run and fails unless it completes. */
const helmTest = {
  name: 'helm-test',
  async prove({ release }) {
    await release.test();
    return 'the run of the chart’s test completed';
  },
};

/** A run of the demo model whose commands run in a sandbox of an executor's pod. */
const sandboxRun = {
  name: 'sandbox',
  async prove({ client }) {
    const api = client();
    const created = await api.ask('POST', '/runs', { model: 'demo/coder', input: 'Write a small program and run it.' });
    const run = await api.waitForEnd(created.id);
    const { data: calls } = await api.ask('GET', `/runs/${run.id}/tool-calls`);
    const outputs = calls.map(({ result }) => result?.output ?? '');
    if (run.status !== 'completed' || !outputs.some((output) => output.includes('FizzBuzz')))
      throw new Error(`the run is ${run.status}; its tools said:\n${outputs.join('\n')}`);
    return `completed, ${calls.length} tool calls in a sandbox`;
  },
};

/** Each has a name, and `prove`, which resolves with its figures or rejects with what is wrong. In the order in which they run. */
export const proofs = [helmTest, sandboxRun, killedPods, natsLeader, rollingUpgrade, drain, executorVolume, scaling];
