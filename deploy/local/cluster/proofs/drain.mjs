import { nodeName } from '../addresses.mjs';
import { isReady } from '../kubectl.mjs';
import { toOutcome } from '../outcome.mjs';
import { RunLoad } from '../run-load.mjs';
import { waitUntil } from '../wait-until.mjs';

const drained = ['gateway', 'agent-worker', 'summarizer', 'tool-executor'];
const selector = 'app.kubernetes.io/component in (gateway,agent-worker,summarizer,tool-executor)';

/**
 * Drains the node under a load of runs. On a cluster of one node the evicted pods have nowhere to go, so the budgets must hold the
 * others; the node then takes pods again, and the rest of the drain is refused no more.
 */
export const drain = {
  name: 'drain',
  async prove({ kubectl, client, note }) {
    const load = new RunLoad(client(), { lanes: 4 });
    await load.progress(2);
    const uids = await readUids(kubectl);
    const held = await kubectl
      .run('drain', nodeName, '--pod-selector', selector, '--delete-emptydir-data', '--timeout=60s')
      .then(
        () => '',
        (error) => error.message,
      );
    if (!held.includes('disruption budget')) throw new Error(`no budget held a pod:\n${held}`);
    const remaining = await Promise.all(drained.slice(0, 2).map((component) => kubectl.pods(component)));
    const ready = remaining.map((pods) => pods.filter(isReady).length);
    if (ready.some((count) => count !== 1))
      throw new Error(`ready of gateway and agent-worker: ${ready.join(', ')}, not 1`);
    note('drained: one pod of each pair evicted, the other held by its budget');
    await load.progress(2);
    await kubectl.run('uncordon', nodeName);
    for (const component of drained) await kubectl.waitForRollout(component);
    note('the node takes pods again; all are ready');
    await evictAll(kubectl, uids);
    note('every pod of before has been evicted, one after the other');
    return toOutcome(await load.stop(), { requestsMayFail: false });
  },
};

async function readUids(kubectl) {
  const pods = await Promise.all(drained.map((component) => kubectl.pods(component)));
  return pods.flat().map(({ metadata }) => metadata.uid);
}

/** As a drain with other nodes: each eviction is asked for until the budget allows it. */
async function evictAll(kubectl, uids) {
  for (const component of drained)
    for (;;) {
      const pod = (await kubectl.pods(component)).find(({ metadata }) => uids.includes(metadata.uid));
      if (!pod) break;
      await evict(kubectl, pod.metadata.name);
      await waitUntil(`${component} is whole again`, () => kubectl.waitForRollout(component).then(() => true));
    }
}

function evict(kubectl, name) {
  const eviction = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name, namespace: 'rondo' } };
  return waitUntil(`${name} may be evicted`, () => kubectl.create(`pods/${name}/eviction`, eviction).then(() => true));
}
