import type { Run } from '@rondo/contract';
import { RunningGateway } from '../../testing/running-gateway';
import { TestWorker, type WorkerRun } from '../../testing/test-worker';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

const say = (content: string) => ({ id: 'question', role: 'user', content });
let requests = 0;

async function findNewest(): Promise<Run | undefined> {
  return ((await gateway.as().get('/v1/runs?limit=1').expect(200)).body as { data: Run[] }).data[0];
}

/** The answer of a request, whole: it ends with its run, or when that asks something. */
async function post(threadId: string, more: object): Promise<string> {
  const body = { threadId, runId: `run ${(requests += 1)}`, messages: [], ...more };
  return (await gateway.as().post('/ag-ui').send(body).expect(200)).text;
}

/** Asks it on the thread, and lets the run that this begins do something. */
async function ask(threadId: string, content: string, work: (run: WorkerRun) => Promise<unknown>): Promise<WorkerRun> {
  const before = await findNewest();
  const answer = post(threadId, { messages: [say(content)] });
  for (;;) {
    const newest = await findNewest();
    if (!newest || newest.id === before?.id) continue;
    const run = await worker.claim(newest.id);
    await work(run);
    await answer;
    return run;
  }
}

async function reply(run: WorkerRun, text: string): Promise<void> {
  run.streamText(text);
  await run.finishMessage();
  await run.complete();
}

describe('a question that a client of AG-UI sends again', () => {
  it('leaves behind what its run was answered in between', async () => {
    const { claim } = await ask('answered', 'Paint it.', (run) => run.ask('Which colour?'));
    const resume = [{ interruptId: 'call_1', status: 'resolved', payload: 'Blue.' }];
    const going = post('answered', { messages: [say('Paint it.')], resume });
    let again: WorkerRun | undefined;
    while (!again) again = await worker.claim(claim.runId).catch(() => undefined);
    await reply(again, 'It is blue.');
    await going;

    await ask('answered', 'Paint it.', (run) => reply(run, 'It is red.'));
    const path = `/v1/threads/${claim.threadId}/messages?llm_only=true`;
    const { data } = (await gateway.as().get(path).expect(200)).body as { data: { content: { text: string }[] }[] };
    expect(data.map(({ content }) => content[0]?.text)).toEqual(['Paint it.', 'It is red.']);
  });

  it('is no answer to what its run asks', async () => {
    const asking = await ask('waiting', 'Paint it.', (run) => run.ask('Which colour?'));
    await ask('waiting', 'Paint it blue.', (run) => reply(run, 'It is blue.'));
    expect((await gateway.read(asking.claim.runId)).status).toBe('stopped');
  });
});
