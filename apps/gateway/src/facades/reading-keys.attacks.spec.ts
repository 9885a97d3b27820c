import { once } from 'node:events';
import { get, request as requestOver } from 'node:http';
import type { Run } from '@rondo/contract';
import { RunningGateway, adminKey } from '../testing/running-gateway';
import { TestWorker } from '../testing/test-worker';

const gateway = RunningGateway.forSuite();
const worker = TestWorker.forSuite(gateway);

/** Asks for a stream and leaves it as soon as it is answered. Resolves to the status. */
async function leave(key: string, path: string, body?: object): Promise<number | undefined> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const to = `${gateway.url}${path}`;
  const asking = body ? requestOver(to, { method: 'POST', headers }).end(JSON.stringify(body)) : get(to, { headers });
  asking.on('error', () => undefined); // it is cut below
  const [answer] = (await once(asking, 'response')) as [{ statusCode?: number; destroy(): void }];
  answer.destroy();
  return answer.statusCode;
}

const streams: [string, (run: Run) => [path: string, body?: object]][] = [
  [
    'AG-UI',
    ({ id: runId, thread_id: threadId }) => [
      '/ag-ui',
      { threadId, runId, messages: [], forwardedProps: { on_disconnect: 'cancel' } },
    ],
  ],
  ['LangGraph', ({ id, thread_id }) => [`/langgraph/threads/${thread_id}/runs/${id}/stream?cancel_on_disconnect=true`]],
  [
    'LangGraph, where it waits for the end',
    ({ id, thread_id }) => [`/langgraph/threads/${thread_id}/runs/${id}/join?cancel_on_disconnect=true`],
  ],
];

describe('attack: a key that only reads', () => {
  it.each(streams)('stops a run by leaving its stream of %s', async (_, toRequest) => {
    const run = await gateway.createRun({ input: 'Go.' });
    const held = await worker.claim(run.id);
    const [path, body] = toRequest(run);

    expect(await leave(await gateway.createReadingKey(), path, body)).toBe(403);
    await held.finishMessage();
    await held.complete();
    expect((await gateway.read(run.id)).stop_requested_at).toBeNull();
  });

  it('answers a run with the state that an MCP client got for its question', async () => {
    const asking = post('run_agent', { arguments: { input: 'Paint it.' } }, adminKey).then(readResult);
    let run: Run | undefined;
    while (!run) [run] = (await gateway.as().get('/v1/runs?q=Paint').expect(200)).body.data as Run[];
    await (await worker.claim(run.id)).ask('Which colour?');
    const { requestState } = await asking;
    expect(requestState).toEqual(expect.any(String));
    const inputResponses = { answer: { action: 'accept', content: { answer: 'Blue.' } } };

    await post('get_run', { requestState, inputResponses, arguments: {} }, await gateway.createReadingKey()).expect(
      403,
    );
    expect((await gateway.read(run.id)).status).toBe('waiting_input');
  });
});

/** A call of the revision 2026-07-28. */
function post(name: string, params: object, key: string) {
  const prefix = 'io.modelcontextprotocol/';
  const meta = {
    [`${prefix}protocolVersion`]: '2026-07-28',
    [`${prefix}clientInfo`]: { name: 'test', version: '1' },
    [`${prefix}clientCapabilities`]: { elicitation: {} },
  };
  const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': name };
  return gateway
    .as(key)
    .post('/mcp')
    .set({ Accept: 'application/json, text/event-stream', ...headers })
    .send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, ...params, _meta: meta } });
}

function readResult({ text }: { text: string }): Record<string, unknown> {
  const data = text.split('\n').findLast((line) => line.startsWith('data: {'));
  return (JSON.parse(data?.slice(6) ?? '{}') as { result: Record<string, unknown> }).result;
}
