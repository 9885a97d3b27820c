import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { type RondoClient, call, command } from '@rondo/test-deployment';
import { FacadeDeployment, about } from './facade-deployment';

type Events = { readonly type: string; readonly id?: string }[];

describe('Claude Managed Agents, in a deployment of two gateways', () => {
  const deployment = FacadeDeployment.forSuite();
  let one: Anthropic;
  let two: Anthropic;
  let environment: string;

  beforeAll(async () => {
    const connect = ({ url, key }: RondoClient) => new Anthropic({ baseURL: `${url}/anthropic`, apiKey: key });
    [one, two] = [connect(deployment.client), connect(deployment.other)];
    environment = (await one.beta.environments.create({ name: 'usual' })).id;
  });

  const createSession = async (tools: NonNullable<Anthropic.Beta.AgentCreateParams['tools']>) => {
    const agent = await one.beta.agents.create({ name: 'Scripted', model: 'demo/scripted', tools });
    return (await one.beta.sessions.create({ agent: agent.id, environment_id: environment })).id;
  };
  const say = (client: Anthropic, session: string, topic: string, turns: readonly Record<string, unknown>[]) => {
    const content = [{ type: 'text' as const, text: about(topic, turns) }];
    return client.beta.sessions.events.send(session, { events: [{ type: 'user.message', content }] });
  };
  const list = async (client: Anthropic, session: string) => {
    const events: Events = [];
    for await (const event of client.beta.sessions.events.list(session)) events.push(event);
    return events;
  };
  const untilIdle = async (stream: AsyncIterable<{ type: string; id?: string }>, stops: string) => {
    const events: Events = [];
    for await (const event of stream) {
      if (event.type.startsWith('event_')) continue;
      events.push(event);
      if ('stop_reason' in event && (event.stop_reason as { type: string }).type === stops) break;
    }
    return events;
  };

  it('gives custom tools to the runner of the SDK, and the same events to both gateways', async () => {
    const session = await createSession([
      {
        type: 'custom',
        name: 'get_weather',
        description: 'The weather of a city.',
        input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    ]);
    const handled: string[] = [];
    const weather = betaTool({
      name: 'get_weather',
      description: 'The weather of a city.',
      inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      run: ({ city }) => {
        handled.push(city);
        return `Rain in ${city}.`;
      },
    });
    const runner = two.beta.sessions.events.toolRunner(session, { tools: [weather], maxIdleMs: 500 });
    const running = (async () => {
      for await (const each of runner) expect(each).toMatchObject({ name: 'get_weather', posted: true });
    })();
    const asked = ['Bergen', 'Oslo'].map((city) => call('get_weather', { city }));
    await say(one, session, 'weather', [{ calls: asked }, { text: 'Take an umbrella.' }]);
    await running;

    expect(handled.toSorted()).toEqual(['Bergen', 'Oslo']);
    const events = await list(one, session);
    expect(events.filter(({ type }) => type === 'user.custom_tool_result')).toHaveLength(2);
    expect(events.findLast(({ type }) => type === 'agent.message')).toMatchObject({
      content: [{ type: 'text', text: 'Take an umbrella.' }],
    });
    expect(await list(two, session)).toEqual(events);
  });

  it('runs a command when its call was allowed at the other gateway, and the stream has what the list has', async () => {
    const session = await createSession([
      { type: 'agent_toolset_20260401', configs: [{ name: 'bash', permission_policy: { type: 'always_ask' } }] },
    ]);
    const stream = await one.beta.sessions.events.stream(session, { event_deltas: ['agent.message'] });
    await say(two, session, 'command', [{ calls: [command('echo hello')] }, { text: 'It said hello.', pace_ms: 5 }]);
    const asked = await untilIdle(stream, 'requires_action');
    const use = asked.find(({ type }) => type === 'agent.tool_use');
    expect(use).toMatchObject({ name: 'bash', evaluated_permission: 'ask' });
    const again = await two.beta.sessions.events.stream(session);
    await two.beta.sessions.events.send(session, {
      events: [{ type: 'user.tool_confirmation', tool_use_id: use?.id ?? '', result: 'allow' }],
    });
    const rest = await untilIdle(again, 'end_turn');
    expect(rest.find(({ type }) => type === 'agent.tool_result')).toMatchObject({
      tool_use_id: use?.id,
      is_error: false,
    });
    expect([...asked, ...rest]).toEqual(await list(one, session));
  });

  it('loses nothing when the worker and a gateway are killed in mid-reply', async () => {
    const session = await createSession([]);
    const stream = await two.beta.sessions.events.stream(session, { event_deltas: ['agent.message'] });
    const text = 'All of it. '.repeat(60).trim();
    await say(one, session, 'killed', [{ text, pace_ms: 20 }]);
    let isKilled = false;
    const events: Events = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'event_delta' && !isKilled) {
        isKilled = true;
        await Promise.all([deployment.killWorkers(), deployment.killGateway()]);
      }
      if (event.type === 'session.status_idle') break;
    }
    const messages = events.filter(({ type }) => type === 'agent.message');
    expect(messages).toMatchObject([{ content: [{ type: 'text', text }] }]);
    expect(events.filter(({ type }) => !type.startsWith('event_'))).toEqual(await list(two, session));
  });
});
