import { isReady, releaseName } from '../kubectl.mjs';
import { command, scriptInput } from '../run-load.mjs';
import { waitUntil } from '../wait-until.mjs';

const noted = 'kept on the volume';

/** A thread's workspace is there again when the pod of its executor has been removed and has come back on its volume. */
export const executorVolume = {
  name: 'executor-volume',
  async prove({ kubectl, client }) {
    const api = client();
    const first = await ran(api, { line: `echo '${noted}' > note.txt; hostname` });
    const since = performance.now();
    for (const { metadata } of await kubectl.pods('tool-executor'))
      await kubectl.run('delete', 'pod', metadata.name, '--wait=true');
    await waitUntil('the executors are ready', async () => {
      const pods = await kubectl.pods('tool-executor');
      return pods.length === 2 && pods.every(isReady);
    });
    const backMs = performance.now() - since;
    const second = await ran(api, { line: 'cat note.txt', threadId: first.threadId });
    if (!second.output.includes(noted)) throw new Error(`the workspace has no such file: ${second.output}`);
    return `${releaseName}-tool-executor back on its volume after ${(backMs / 1_000).toFixed(1)} s, the workspace intact`;
  },
};

async function ran(api, { line, threadId }) {
  const turns = [{ text: 'I run it.', calls: [command(line)] }, { text: 'Done.' }];
  const created = await api.ask('POST', '/runs', {
    ...scriptInput('A command.', turns),
    ...(threadId && { thread_id: threadId }),
  });
  const run = await api.waitForEnd(created.id);
  const { data } = await api.ask('GET', `/runs/${run.id}/tool-calls`);
  if (run.status !== 'completed') throw new Error(`the run is ${run.status}: ${JSON.stringify(run.error)}`);
  return { threadId: run.thread_id, output: data[0]?.result?.output ?? '' };
}
