import { call } from '@rondo/test-deployment';
import { FacadeDeployment, about, long } from './facade-deployment';
import { type Frame, IiClient, readEvents } from './ii-client';

const deployment = FacadeDeployment.forSuite();

const said = (frames: readonly Frame[]): string =>
  frames.flatMap(({ type, content }) => (type === 'agent_thinking' ? [content['text']] : [])).join('');

async function findRun(): Promise<string> {
  const { data } = await deployment.other.json<{ data: { id: string }[] }>('GET', '/runs?limit=1');
  return data[0]?.id ?? '';
}

describe('a client of II-Agent', () => {
  it('shows a tool of the deployment and the text after it, and replays them at the other gateway', async () => {
    const client = new IiClient(deployment.client);
    const turns = [{ text: 'I look.', calls: [call('bash', { command: 'echo seen' })] }, { text: 'I have seen it.' }];
    await client.ask(about('tool', turns));
    await client.next('stream_complete');
    expect(client.logged.map(({ type }) => type)).toEqual([
      'agent_thinking', 'tool_call', 'tool_result', 'agent_thinking', 'agent_response', 'stream_complete',
    ]); // prettier-ignore
    expect((await client.next('tool_result')).content).toMatchObject({
      tool_name: 'bash',
      result: expect.stringContaining('seen') as string,
    });
    expect((await client.next('agent_response')).content).toEqual({ text: 'I have seen it.' });

    const events = await readEvents(deployment.other, await client.session());
    expect(events[0]?.event_type).toBe('user_message');
    expect(events.slice(1).map(({ id, event_payload }) => ({ ...event_payload, id }))).toEqual(client.logged);
    await client.close();
  });

  it('answers a question at the other gateway, and goes on on the same session', async () => {
    const client = new IiClient(deployment.client);
    const { id: agent } = await deployment.client.json<{ id: string }>('PUT', '/agents/by-name/ii-painter', {
      definition: { model: 'demo/scripted' },
    });
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    const session = await client.session();
    client.send('init_agent', { model_name: agent });
    client.send('query', { text: about('question', turns) });
    expect((await client.next('agent_response')).content).toEqual({ text: 'Which colour?' });

    const elsewhere = new IiClient(deployment.other, { session_uuid: session });
    await elsewhere.ask('Blue.', true);
    await client.next('stream_complete', 2);
    await elsewhere.next('stream_complete', 2); // the run that asked is shown from its beginning
    expect(elsewhere.logged).toEqual(client.logged);
    expect(said(client.logged)).toBe('It is blue.');
    await elsewhere.ask(about('next', [{ text: 'Once more.' }]), true);
    await client.next('stream_complete', 3);
    expect(said(client.logged)).toBe('It is blue.Once more.');
    await Promise.all([client.close(), elsewhere.close()]);
  });

  it('stops a run with its command, and is told when that is true', async () => {
    const client = new IiClient(deployment.client);
    await client.ask(about('stop', [{ calls: [call('bash', { command: 'sleep 600' })] }, { text: 'Slept.' }]));
    await client.next('tool_call');
    const id = await findRun();
    client.send('cancel');
    await client.next('system');
    await client.next('agent_response_interrupted');
    expect(await deployment.client.waitForRun(id)).toMatchObject({ status: 'stopped' });
    await client.close();
  });

  it('leaves its run alone when it closes', async () => {
    const client = new IiClient(deployment.client);
    await client.ask(about('left', [{ text: long, pace_ms: 20 }]));
    const session = await client.session();
    await client.close();
    const again = new IiClient(deployment.other, { session_uuid: session });
    await again.next('stream_complete');
    expect(said(again.logged)).toBe(long);
    await again.close();
  });

  it('has each frame once after kills of the worker and the gateway in the middle of a reply', async () => {
    const client = new IiClient(deployment.client);
    const turns = [
      { text: 'I look.', calls: [call('bash', { command: 'echo seen' })] },
      { text: long, pace_ms: 20 },
    ];
    await client.ask(about('killed', turns));
    const session = await client.session();
    await client.next('tool_result');
    const id = await findRun();
    const restarted = deployment.other.waitForEvent(id, 'iteration.restarted');
    await deployment.other.waitForEvent(id, 'message.delta', 20);
    await Promise.all([deployment.killWorkers(), restarted]);
    await deployment.killGateway();
    await client.cut();

    const after = client.logged.at(-1)?.id ?? '';
    const again = new IiClient(deployment.other, { session_uuid: session, after });
    await again.next('stream_complete');
    const frames = [...client.logged, ...again.logged];
    expect(said(frames)).toBe(`I look.${long}`);
    const events = await readEvents(deployment.other, session);
    expect(frames.map((frame) => frame.id)).toEqual(events.slice(1).map((event) => event.id));
    await again.close();
    await deployment.client.waitForRun(id); // the killed gateway is back
  });
});
