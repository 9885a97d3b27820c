import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '../../servers/postgres-client.mjs';
import { serveExternalMetric } from '../external-metrics.mjs';
import { runsToServe } from '../translate.mjs';
import { isReady } from '../kubectl.mjs';
import { waitUntil } from '../wait-until.mjs';

const waves = [40, 40];
const runMs = 12_000;
const most = 5;
/** The chart waits five minutes before it removes a pod; here it is shorter, so that the proof ends. */
const hurried = {
  scaleDown: { stabilizationWindowSeconds: 20, policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }] },
};

/** Scales agent-worker by the view `runs_to_serve`, with the target that KEDA gets, under a load in waves. No run is lost. */
export const scaling = {
  name: 'scaling',
  async prove({ kubectl, release, client, note, directory, owns, secret, serviceUrl }) {
    await release.upgrade('autoscaling=keda', 'agentWorker.replicas=1', `agentWorker.maxReplicas=${most}`);
    const patch = ['--type', 'merge', '--patch', JSON.stringify({ spec: { behavior: hurried } })];
    await kubectl.run('patch', 'horizontalpodautoscalers.v2beta2.autoscaling', 'rondo-agent-worker', ...patch);
    const url = await serviceUrl('postgres', {
      user: 'rondo_scaler',
      password: await secret('POSTGRES_SCALER_PASSWORD'),
    });
    const metrics = owns(await serveExternalMetric({ directory, name: runsToServe, read: () => toServe(url) }));
    await kubectl.apply(metrics.objects);
    await waitUntil('one worker is left', async () => (await kubectl.pods('agent-worker')).length === 1);

    const api = client();
    const sizes = new Sizes(kubectl);
    const runs = [];
    for (const count of waves) {
      const created = Array.from({ length: count }, () =>
        api.ask('POST', '/runs', { model: `demo/plain:delay_ms=${runMs}`, input: 'Wait for a while.' }),
      );
      runs.push(...(await Promise.all(created)));
      await Promise.all(runs.map(({ id }) => api.waitForEnd(id)));
      await waitUntil('one worker is left', async () => (await kubectl.pods('agent-worker')).length === 1);
      note(`a wave of ${count} runs: ${sizes.take().join(' → ')} pods`);
    }
    await sizes.stop();
    const statuses = await Promise.all(runs.map(async ({ id }) => (await api.ask('GET', `/runs/${id}`)).status));
    const completed = statuses.filter((status) => status === 'completed').length;
    if (completed < runs.length || sizes.largest < 3)
      throw new Error(`${completed} of ${runs.length} runs completed, on at most ${sizes.largest} pods`);
    return `${completed} of ${runs.length} runs completed on 1 to ${sizes.largest} pods; ${api.failures.length} of ${api.requests} requests failed`;
  },
};

/** What KEDA reads, as the role that may read nothing else. */
function toServe(url) {
  return withClient(url, async (connection) => {
    const { rows } = await connection.query('select runs from runs_to_serve');
    return rows[0].runs;
  });
}

/** How many workers were ready, one number for each change. */
class Sizes {
  largest = 0;
  #seen = [];
  #isOver = false;
  #watching;

  constructor(kubectl) {
    this.#watching = this.#watch(kubectl);
  }

  take() {
    return this.#seen.splice(0);
  }

  stop() {
    this.#isOver = true;
    return this.#watching;
  }

  async #watch(kubectl) {
    while (!this.#isOver) {
      const pods = await kubectl.pods('agent-worker').catch(() => []);
      const size = pods.filter(isReady).length;
      if (size !== this.#seen.at(-1)) this.#seen.push(size);
      this.largest = Math.max(this.largest, size);
      await delay(1_000);
    }
  }
}
