import * as agUi1 from '@ag-ui/client';
import { type RondoClient, call, command } from '@rondo/test-deployment';
import * as agUi0 from 'ag-ui-client-0';
import { FacadeDeployment, about, long } from './facade-deployment';

/** The parts of the two generations that are alike, in the types of the older. */
type AgUi = Pick<typeof agUi0, 'HttpAgent'>;
type Agent = agUi0.HttpAgent;
const generations: [string, AgUi][] = [
  ['1.0', agUi1 as unknown as AgUi],
  ['0.0.59', agUi0],
];

const deployment = FacadeDeployment.forSuite();

let count = 0;
const newId = (): string => `outer-${(count += 1)}`;
const say = (content: string): agUi0.Message => ({ id: newId(), role: 'user', content });

interface AgentOptions {
  readonly threadId?: string;
  readonly agentName?: string;
}

const createAgent = (
  { HttpAgent }: AgUi,
  { url, key }: Pick<RondoClient, 'url' | 'key'> = deployment.client,
  { threadId, agentName = 'demo/scripted' }: AgentOptions = {},
): Agent =>
  new HttpAgent({
    url: `${url}/ag-ui/${encodeURIComponent(agentName)}`,
    headers: { Authorization: `Bearer ${key}` },
    threadId: threadId ?? newId(),
    fetch: fetchThroughBalancer,
  });

/**
 * The body ends where the connection breaks off, as behind a balancer: clients of both generations leave a rejection unhandled
 * when a body itself breaks off.
 */
async function fetchThroughBalancer(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  response.body
    ?.pipeTo(writable, { preventAbort: true })
    .catch(() => writable.close())
    .catch(() => undefined); // the client has left
  return new Response(readable, response);
}

const texts = ({ messages }: Agent): string[] =>
  messages.flatMap(({ role, content }) => (role === 'user' || !content ? [] : [`${role}: ${JSON.stringify(content)}`]));

/** The error that the client was told in its stream, or that it threw. */
async function readRefusal(agent: Agent, given: agUi0.RunAgentParameters = {}): Promise<string> {
  let refusal = 'none';
  try {
    await agent.runAgent(given, { onRunErrorEvent: ({ event }) => void (refusal = `${event.code}: ${event.message}`) });
  } catch (error) {
    return (error as Error).message;
  }
  return refusal;
}

/** Calls `act` once, when the text has begun. */
function onText(act: () => unknown): agUi0.AgentSubscriber {
  let isDone = false;
  return {
    onTextMessageContentEvent: ({ textMessageBuffer: text }) => {
      if (isDone || text.length < 40) return;
      isDone = true;
      act();
    },
  };
}

async function findNewest(): Promise<string> {
  const { data } = await deployment.other.json<{ data: { id: string }[] }>('GET', '/runs?limit=1');
  return data[0]?.id ?? '';
}

const weather = { name: 'get_weather', description: 'The weather of a city.', parameters: { type: 'object' } };

describe.each(generations)('a client %s of AG-UI', (version, agUi) => {
  it('shows a tool of the deployment and the text after it, and goes on on the same thread', async () => {
    const agent = createAgent(agUi);
    const turns = [{ text: 'I look. ', calls: [command('echo seen')] }, { text: 'I have seen it.' }];
    agent.addMessage(say(about(`tool ${version}`, turns)));
    await agent.runAgent();

    expect(texts(agent)).toEqual([
      'assistant: "I look. "',
      expect.stringMatching(/^tool: .*seen/),
      'assistant: "I have seen it."',
    ]);
    agent.addMessage(say(about(`next ${version}`, [{ text: 'Again.' }])));
    await agent.runAgent();
    expect(texts(agent).slice(3)).toEqual(['assistant: "Again."']);
    const [first, second] = (await deployment.client.json<{ data: { thread_id: string }[] }>('GET', '/runs?limit=2'))
      .data;
    expect(first?.thread_id).toBe(second?.thread_id);
  });

  it('answers a question at the other gateway, and is refused a second answer', async () => {
    const agent = createAgent(agUi);
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    agent.addMessage(say(about(`ask ${version}`, turns)));
    await agent.runAgent();
    const [interrupt] = agent.pendingInterrupts;
    expect(interrupt).toMatchObject({ reason: 'ask', message: 'Which colour?' });

    const elsewhere = createAgent(agUi, deployment.other, { threadId: agent.threadId });
    const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: 'Blue.' }];
    await elsewhere.runAgent({ resume });

    expect(texts(elsewhere)).toEqual(['assistant: "It is blue."']);
    expect(await readRefusal(agent, { resume })).toMatch(/^run_not_waiting/);
  });

  it('decides about a call that needs an approval', async () => {
    const agentName = `careful-ag-ui-${version.replaceAll('.', '-')}`;
    const definition = { model: 'demo/scripted', tools: { execute_command: { require_approval: true } } };
    await deployment.client.json('PUT', `/agents/by-name/${agentName}`, { definition });
    const agent = createAgent(agUi, deployment.client, { agentName });
    const turns = [{ calls: [command('echo approved')] }, { text: 'It is done.' }];
    agent.addMessage(say(about(`approval ${version}`, turns)));
    await agent.runAgent();
    const [interrupt] = agent.pendingInterrupts;
    expect(interrupt).toMatchObject({ reason: 'approval' });

    await agent.runAgent({
      resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } }],
    });

    expect(texts(agent)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^tool: .*approved/), 'assistant: "It is done."']),
    );
  });

  it('gives the results of its own tools', async () => {
    const agent = createAgent(agUi);
    const turns = [{ calls: [call('get_weather', { city: 'Bergen' })] }, { text: 'Take an umbrella.' }];
    agent.addMessage(say(about(`caller ${version}`, turns)));
    await agent.runAgent({ tools: [weather] });
    const asked = agent.messages.at(-1);
    if (asked?.role !== 'assistant') throw new Error('the newest message has no call');
    expect(asked.toolCalls).toMatchObject([{ function: { name: 'get_weather', arguments: '{"city":"Bergen"}' } }]);

    agent.addMessage({ id: newId(), role: 'tool', toolCallId: asked.toolCalls?.[0]?.id ?? '', content: 'Rain.' });
    await agent.runAgent({ tools: [weather] });

    expect(texts(agent)).toEqual(['tool: "Rain."', 'assistant: "Take an umbrella."']);
    expect(await deployment.client.toolOutputs(await findNewest())).toEqual(['Rain.']);
  });

  it('is told that a thread is busy, and stops the run with its stream', async () => {
    const agent = createAgent(agUi);
    agent.addMessage(say(about(`stop ${version}`, [{ text: long, pace_ms: 20 }])));
    let asked: Promise<string> | undefined;
    const second = createAgent(agUi, deployment.other, { threadId: agent.threadId });
    second.addMessage(say('And this?'));
    const given = { forwardedProps: { on_disconnect: 'cancel' } };
    const act = () => {
      asked = readRefusal(second).finally(() => agent.abortRun());
    };
    await agent.runAgent(given, onText(act));

    expect(await asked).toMatch(/^thread_busy/);
    expect(await deployment.client.waitForRun(await findNewest())).toMatchObject({ status: 'stopped' });
    const said = JSON.parse(texts(agent)[0]?.replace('assistant: ', '') ?? '""') as string;
    expect(long.startsWith(said.trimEnd())).toBe(true);
  });

  it('has the whole text once after a kill of the worker and then of the gateway', async () => {
    const [agent, runId] = [createAgent(agUi), newId()];
    agent.addMessage(say(about(`killed ${version}`, [{ text: long, pace_ms: 20 }])));
    let killing: Promise<void> | undefined;
    const kill = async () => {
      const restarted = deployment.other.waitForEvent(await findNewest(), 'iteration.restarted');
      await Promise.all([deployment.killWorkers(), restarted]);
      await deployment.killGateway();
    };
    await agent
      .runAgent(
        { runId },
        onText(() => void (killing = kill())),
      )
      .catch(() => undefined); // whether it calls this an error is up to the client
    await killing;
    expect((await deployment.other.run(await findNewest())).status).toBe('running');

    const again = createAgent(agUi, deployment.other, { threadId: agent.threadId });
    await again.runAgent({ runId });

    expect(texts(again)).toEqual([`assistant: ${JSON.stringify(long)}`]);
    await deployment.client.waitForRun(await findNewest()); // the killed gateway is back
  });

  it('has the whole text once when only the worker is killed, without a new connection', async () => {
    const agent = createAgent(agUi, deployment.other);
    agent.addMessage(say(about(`worker ${version}`, [{ text: long, pace_ms: 10 }])));
    let killing: Promise<void> | undefined;
    await agent.runAgent(
      {},
      onText(() => void (killing = deployment.killWorkers())),
    );
    await killing;
    expect(texts(agent)).toEqual([`assistant: ${JSON.stringify(long)}`]);
  });

  it('reads what is refused, and why', async () => {
    const stranger = createAgent(agUi, { url: deployment.client.url, key: 'rondo_wrong' });
    stranger.addMessage(say('Hello?'));
    expect(await readRefusal(stranger)).toContain('unauthorized');
    const agent = createAgent(agUi);
    agent.addMessage(say('Hello?'));
    expect(await readRefusal(agent, { forwardedProps: { temperature: 1 } })).toContain('temperature');
    expect(await readRefusal(createAgent(agUi, deployment.client, { agentName: 'nothing' }))).toContain(
      'agent_not_found',
    );
  });
});
