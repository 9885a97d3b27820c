import { setTimeout } from 'node:timers/promises';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
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

  it('reads a message while it works, and the stream and the list have it in its place', async () => {
    const session = await createSession([]);
    const stream = await one.beta.sessions.events.stream(session, { event_deltas: ['agent.message'] });
    await say(one, session, 'told', [{ text: 'So far. '.repeat(60).trim(), pace_ms: 20 }]);
    const events: Events = [];
    let echo: string | undefined;
    for await (const event of stream) {
      if (event.type === 'event_delta')
        echo ??= (await say(two, session, 'in blue', [{ text: 'It is blue.' }])).data?.[0]?.id;
      if (!event.type.startsWith('event_')) events.push(event);
      if (event.type === 'session.status_idle') break;
    }
    const shown = events.filter(({ type }) => type === 'user.message' || type === 'agent.message');
    expect(shown.map(({ type }) => type)).toEqual(['user.message', 'agent.message', 'user.message', 'agent.message']);
    expect(shown[2]?.id).toBe(echo);
    expect(shown[3]).toMatchObject({ content: [{ type: 'text', text: 'It is blue.' }] });
    expect(await list(two, session)).toEqual(events);
  });

  it('keeps files, and brings them into the workspace of a session', async () => {
    const file = await one.beta.files.upload({ file: await toFile(Buffer.from('a,b\n1,2\n'), 'sales.csv') });
    expect(file).toMatchObject({ type: 'file', filename: 'sales.csv', size_bytes: 8, scope: null });
    expect(await two.beta.files.retrieveMetadata(file.id)).toEqual(file);
    expect(await (await two.beta.files.download(file.id)).text()).toBe('a,b\n1,2\n');
    expect((await two.beta.files.list({ ids: [file.id, 'file_none'] })).data).toEqual([file]);
    expect((await two.beta.files.list()).data).toContainEqual(file);
    await expect(two.beta.files.list({ scope_id: 'thr_x' })).rejects.toMatchObject({ status: 400 });

    const agent = await one.beta.agents.create({ name: 'Reader', model: 'demo/scripted', tools: [{ type: 'agent_toolset_20260401' }] }); // prettier-ignore
    const made = await one.beta.sessions.create({
      agent: agent.id,
      environment_id: environment,
      resources: [{ type: 'file', file_id: file.id }],
    });
    expect(made.resources).toMatchObject([{ type: 'file', file_id: file.id, mount_path: '/workspace/sales.csv' }]);
    const stream = await two.beta.sessions.events.stream(made.id);
    await say(one, made.id, 'file', [{ calls: [command('cat /workspace/sales.csv')] }, { text: 'Read.' }]);
    const events = await untilIdle(stream, 'end_turn');
    const text = expect.stringContaining('1,2') as string;
    expect(events.find(({ type }) => type === 'agent.tool_result')).toMatchObject({
      content: [{ text }],
      is_error: false,
    });

    const other = await one.beta.files.upload({ file: await toFile(Buffer.from('later'), 'later.txt') });
    const { resources } = one.beta.sessions;
    const added = await resources.add(made.id, { type: 'file', file_id: other.id });
    expect(await resources.retrieve(added.id, { session_id: made.id })).toEqual(added);
    expect((await resources.list(made.id)).data).toHaveLength(2);
    expect(await resources.delete(added.id, { session_id: made.id })).toMatchObject({ id: added.id });
    expect((await resources.list(made.id)).data).toHaveLength(1);
    const repository = { type: 'github_repository', url: 'https://github.com/a/b', authorization_token: 'x' } as never;
    await expect(resources.add(made.id, repository)).rejects.toMatchObject({ status: 400 });
    expect(await one.beta.files.delete(other.id)).toEqual({ id: other.id, type: 'file_deleted' });
    await expect(one.beta.files.retrieveMetadata(other.id)).rejects.toMatchObject({ status: 404 });
  });

  it('begins a session for each second of a deployment, at whichever gateway lives', async () => {
    const { id: agent } = await one.beta.agents.create({ name: 'Clock', model: 'demo/plain' });
    const made = await one.beta.deployments.create({
      ...{ agent, environment_id: environment, name: 'Every second' },
      schedule: { type: 'cron', expression: '* * * * *', timezone: 'UTC' },
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'It is {{due_at}}.' }] }],
    });
    const schedule = made.id.replace('depl_', 'sch_');
    await deployment.client.json('PATCH', `/schedules/${schedule}`, { cron: '* * * * * *' }); // which the protocol has not
    const listRuns = async (from: Anthropic) => {
      const runs: Anthropic.Beta.BetaManagedAgentsDeploymentRun[] = [];
      for await (const run of from.beta.deploymentRuns.list({ deployment_id: made.id, limit: 100 })) runs.push(run);
      return runs;
    };
    const areMore = async (from: Anthropic, more: number) => {
      const { length: known } = await listRuns(from);
      while ((await listRuns(from)).length < known + more) await setTimeout(100); // between two looks
    };

    await areMore(one, 1);
    await deployment.killGateway();
    await areMore(two, 2);
    await deployment.startGateway();
    await deployment.killGateway('gateway-2');
    await areMore(one, 2);
    await one.beta.deployments.archive(made.id);
    await deployment.startGateway('gateway-2');

    const runs = await listRuns(two);
    const times = runs.map(({ trigger_context: by }) => (by.type === 'schedule' ? by.scheduled_at : '')).toReversed();
    expect(times).toEqual([...new Set(times)].toSorted());
    expect(new Set(runs.map(({ session_id: session }) => session)).size).toBe(runs.length);
    for (const { session_id: session, error } of runs) {
      expect(error).toBeNull();
      const stream = await two.beta.sessions.events.stream(session ?? '');
      if ((await one.beta.sessions.retrieve(session ?? '')).status === 'running') await untilIdle(stream, 'end_turn');
      const said = (await list(two, session ?? '')).filter(({ type }) => type === 'agent.message');
      expect(said).toHaveLength(1);
      expect(await two.beta.sessions.retrieve(session ?? '')).toMatchObject({ deployment_id: made.id, status: 'idle' });
    }
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
