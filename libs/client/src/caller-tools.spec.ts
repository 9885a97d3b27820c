import { toNewRun } from './caller-tools.ts';
import { Rondo } from './rondo.ts';
import { ScriptedGateway, sendJson } from './testing/scripted-gateway.ts';

const handler = () => 'noon';

describe('the request of a run with handlers', () => {
  it('defines the tools that have a description, and their options', () => {
    const tools = { clock: { description: 'The time.', require_approval: true, handler }, execute_command: false };

    expect(toNewRun({ input: 'Go.', tools })).toEqual({
      input: 'Go.',
      tools: { clock: { require_approval: true }, execute_command: false },
      caller_tools: [{ name: 'clock', description: 'The time.' }],
    });
  });

  it('leaves the tools as the agent has them where it has only handlers', () => {
    expect(toNewRun({ input: 'Go.', tools: { clock: { handler } } })).toEqual({ input: 'Go.' });
  });

  it('leaves the own tools of the agent where it has only options', () => {
    const tools = { execute_command: { require_approval: true } };

    expect(toNewRun({ input: 'Go.', tools })).toEqual({ input: 'Go.', tools });
  });
});

describe('a run whose tools are here', () => {
  it('goes on while each of its requests gets no answer at first', async () => {
    const event = (seq: number, type: string, data: object) =>
      `data: ${JSON.stringify({ id: `evt_${seq}`, seq, type, run_id: 'run_1', iteration: 1, epoch: 1, data })}\n\n`;
    const run = { id: 'run_1', status: 'completed', error: null };
    const paths = new Set<string>();
    let isAnswered = false;
    const gateway = await ScriptedGateway.start(({ url = '' }, response) => {
      const [path = ''] = url.split('?');
      const isFirst = !paths.has(path);
      paths.add(path);
      isAnswered ||= path.endsWith('/result') && path.includes('call_1') && !isFirst;
      const answers: Record<string, object> = {
        '/v1/runs': run,
        '/v1/runs/run_1/wait': run,
        '/v1/runs/run_1/result': { success: true },
      };
      if (path.endsWith('/stream')) {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write(event(1, 'run.waiting', { reason: 'caller_tools' }));
        if (isAnswered) response.end(event(2, 'run.completed', {}));
        else setTimeout(() => response.destroy(), 50);
      } else if (isFirst && path !== '/v1/runs') response.destroy();
      else if (path === '/v1/tool-calls')
        sendJson(response, 200, {
          data: [{ id: 'call_1', name: 'clock', attempt: 1, arguments: {} }],
          next_cursor: null,
        });
      else sendJson(response, 200, answers[path] ?? {});
    });
    const { runs } = new Rondo({ ...gateway.options, retries: 0 });

    const tools = { clock: { description: 'The time.', handler } };
    expect(await runs.run({ input: 'Go.', tools })).toEqual({ success: true });

    expect([...paths]).toContain('/v1/tool-calls/call_1/result');
    await gateway.close();
  });
});
