import type { Run } from '@rondo/contract';
import { RunningGateway } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite({ METRICS_OPEN: true });
const worker = TestWorker.forSuite(gateway);

async function read(series: string): Promise<number> {
  const { text } = await gateway.anonymous.get('/metrics').expect(200);
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length));
}

describe('the figures of a gateway', () => {
  it('have a run that it stops itself, and a call whose outcome a person told it', async () => {
    const run = await gateway.createRun();
    const queued = await gateway
      .as()
      .post(`/v1/threads/${run.thread_id}/runs`)
      .send({ input: 'Next.', on_active_run: 'queue' })
      .expect(202);
    await gateway
      .as()
      .post(`/v1/runs/${(queued.body as Run).id}/stop`)
      .send({})
      .expect(202);
    const call = await (await worker.claim(run.id)).park();
    await gateway.as().post(`/v1/tool-calls/${call}/resolve`).send({ outcome: 'completed' }).expect(200);

    expect(await read('rondo_runs_ended_total{status="stopped",reason="stopped"}')).toBe(1);
    expect(await read('rondo_tool_calls_total{tool="http_request",outcome="completed"}')).toBe(1);
  });

  it('have no time of an answer that waited for a run, whatever protocol asked for it', async () => {
    const answered = 'rondo_gateway_request_seconds_count{method="POST",status="2xx"}';
    const before = await read(answered);

    const answer = gateway
      .as()
      .post('/openai/v1/chat/completions')
      .send({ model: 'demo/coder', messages: [{ role: 'user', content: 'Hello.' }] })
      .then(({ status }) => status);
    while (gateway.parts.subscriptions.subscriberCount === 0) await new Promise(setImmediate);
    const { body } = await gateway.as().get('/v1/runs?limit=1').expect(200);
    await (await worker.claim((body as { data: Run[] }).data[0]?.id as Run['id'])).complete();

    expect(await answer).toBe(200);
    expect(await read(answered)).toBe(before);
  });
});
