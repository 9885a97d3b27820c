import { standstills, toOutcome } from '../outcome.mjs';
import { RunLoad } from '../run-load.mjs';
import { kill } from './killed-pods.mjs';

const rounds = 4;
const stream = 'TOOL_CALLS';
const withinMs = 30_000;

/** Of three servers of NATS the one that leads the queue of calls is killed under runs, again and again. */
export const natsLeader = {
  name: 'nats-leader',
  async prove({ kubectl, node, client, note }) {
    const load = new RunLoad(client(), { lanes: 6 });
    const kills = [];
    for (let round = 0; round < rounds; round += 1) {
      await load.progress(6);
      const servers = await kubectl.pods('nats');
      const leader = await findLeader(kubectl, servers[0].metadata.name);
      const pod = servers.find(({ metadata }) => metadata.name === leader);
      kills.push(Date.now());
      const ms = await kill({ kubectl, node, component: 'nats', pod });
      note(`${leader} led the calls and was killed; three servers are ready again after ${(ms / 1_000).toFixed(1)} s`);
    }
    await load.progress(6);
    const ended = await load.stop();
    const outcome = toOutcome(ended, { requestsMayFail: false });
    const pauses = kills.flatMap((since) => standstills(ended.runs, { since, withinMs })).sort((a, b) => a - b);
    const seconds = (share) => `${(pauses[Math.ceil(pauses.length * share) - 1] / 1_000).toFixed(1)} s`;
    return `${pauses.length} live runs stood still for ${seconds(0.5)} (p50), ${seconds(0.95)} (p95), ${seconds(1)} (most); ${outcome}`;
  },
};

/** The pod whose server leads the stream of calls, as any of the servers says. */
async function findLeader(kubectl, pod) {
  const url = 'http://127.0.0.1:8222/jsz?streams=true';
  const { account_details: accounts } = JSON.parse(await kubectl.run('exec', pod, '--', 'wget', '-q', '-O', '-', url));
  const found = accounts.flatMap(({ stream_detail: streams = [] }) => streams).find(({ name }) => name === stream);
  if (!found?.cluster?.leader) throw new Error(`no server leads ${stream}`);
  return found.cluster.leader;
}
