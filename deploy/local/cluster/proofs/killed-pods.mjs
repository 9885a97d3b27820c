import { toOutcome } from '../outcome.mjs';
import { RunLoad } from '../run-load.mjs';
import { isReady } from '../kubectl.mjs';
import { waitUntil } from '../wait-until.mjs';

/** Not the demo model, which stands for a provider: a run fails when its provider is away for longer than it tries again. */
const services = ['gateway', 'agent-worker', 'summarizer', 'tool-executor'];
const servers = ['redis', 'nats', 'postgres'];

/** One pod of each service, and of each bundled server, is killed while runs are under way: they all complete. */
export const killedPods = {
  name: 'killed-pods',
  async prove({ kubectl, node, client, note }) {
    const load = new RunLoad(client(), { lanes: 6 });
    for (const component of [...services, ...servers]) {
      await load.progress(2);
      const [pod] = await kubectl.pods(component);
      const ms = await kill({ kubectl, node, component, pod });
      note(`${component} killed, ready again after ${(ms / 1_000).toFixed(1)} s`);
    }
    await load.progress(4);
    return toOutcome(await load.stop(), { requestsMayFail: true });
  },
};

/** Kills the programs of a pod without warning, and removes it. Resolves with the time until another is ready. */
export async function kill({ kubectl, node, component, pod: { metadata, status } }) {
  const { length: wanted } = await kubectl.pods(component);
  const since = performance.now();
  const container = status.containerStatuses[0].containerID.split('://')[1];
  await node.ctr('tasks', 'kill', '--all', '--signal', 'SIGKILL', container);
  await kubectl.run('delete', 'pod', metadata.name, '--grace-period=0', '--force', '--wait=false');
  await waitUntil(`${component} is ready`, async () => {
    const pods = (await kubectl.pods(component)).filter(({ metadata: { uid } }) => uid !== metadata.uid);
    return pods.length >= wanted && pods.every(isReady);
  });
  return performance.now() - since;
}
