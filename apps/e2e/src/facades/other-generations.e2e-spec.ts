import { Agent, OpenAIProvider, Runner, hostedMcpTool, tool } from '@openai/agents';
import { type RondoClient, call, command } from '@rondo/test-deployment';
import Anthropic from 'anthropic-sdk-0';
import OpenAI from 'openai7';
import { z } from 'zod';
import { FacadeDeployment, about, long } from './facade-deployment';

/** What works with the generation of a client that the suite of its façade uses works with the other one, too. */
const deployment = FacadeDeployment.forSuite();

const model = 'demo/scripted';
const connect = ({ url, key }: Pick<RondoClient, 'url' | 'key'>) =>
  new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: key });

describe('openai 7', () => {
  it('streams a response with a tool of the deployment, and goes on with it', async () => {
    const openai = connect(deployment.client);
    const turns = [{ text: 'I look.', calls: [command('echo seen')] }, { text: 'I have seen it.' }];
    const stream = openai.responses.stream({ model, input: about('whole 7', turns) });
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => (text += delta));
    const first = await stream.finalResponse();
    expect(first).toMatchObject({ status: 'completed', output_text: 'I look.I have seen it.' });
    expect(text).toBe(first.output_text);
    expect(first.usage?.output_tokens).toBeGreaterThan(0);
    const next = { model, input: about('next 7', [{ text: 'Two.' }]), previous_response_id: first.id };
    expect(await openai.responses.create(next)).toMatchObject({ output_text: 'Two.' });
  });

  it('resumes a response in the background after a cut, and cancels one', async () => {
    const openai = connect(deployment.client);
    const input = about('background 7', [{ text: long, pace_ms: 10 }]);
    const stream = await openai.responses.create({ model, input, background: true, stream: true });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'response.output_text.delta') break;
    }
    const [created] = events;
    if (created?.type !== 'response.created') throw new Error('the first event was another one');
    const starting_after = events.at(-1)?.sequence_number ?? 0;
    const rest = await openai.responses.retrieve(created.response.id, { stream: true, starting_after });
    for await (const event of rest) events.push(event);
    const texts = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
    expect(texts.join('')).toBe(long);

    const slow = about('cancelled 7', [{ text: long, pace_ms: 100 }]);
    const begun = await openai.responses.create({ model, input: slow, background: true });
    expect(await openai.responses.cancel(begun.id)).toMatchObject({ status: 'cancelled' });
  });

  it('completes chats, and reads errors', async () => {
    const openai = connect(deployment.client);
    const messages = [{ role: 'user' as const, content: about('chat 7', [{ text: 'Hello.' }]) }];
    const { choices } = await openai.chat.completions.create({ model, messages });
    expect(choices[0]?.message.content).toBe('Hello.');
    await expect(openai.embeddings.create({ model, input: 'x' })).rejects.toMatchObject({
      status: 404,
      code: 'not_served',
    });
    await expect(connect({ url: deployment.client.url, key: 'rondo_wrong' }).models.list()).rejects.toMatchObject({
      status: 401,
    });
  });
});

describe('@openai/agents', () => {
  const createRunner = () => {
    const { url, key } = deployment.client;
    const provider = new OpenAIProvider({ baseURL: `${url}/openai/v1`, apiKey: key, useResponses: true });
    return new Runner({ modelProvider: provider, tracingDisabled: true });
  };

  it('runs its own functions for a model of the deployment', async () => {
    const handled: string[] = [];
    const weather = tool({
      name: 'get_weather',
      description: 'The weather of a city.',
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => {
        handled.push(city);
        return `Rain in ${city}.`;
      },
    });
    const agent = new Agent({ name: 'Weather', instructions: 'Tell the weather.', model, tools: [weather] });
    const turns = [{ calls: [call('get_weather', { city: 'Bergen' })] }, { text: 'Take an umbrella.' }];
    const result = await createRunner().run(agent, about('agents', turns));
    expect(handled).toEqual(['Bergen']);
    expect(result.finalOutput).toBe('Take an umbrella.');
  });

  it('decides about calls of the deployment that need an approval', async () => {
    const definition = { model, tools: { execute_command: { require_approval: true } } };
    await deployment.client.json('PUT', '/agents/by-name/cautious', { definition });
    const tools = [hostedMcpTool({ serverLabel: 'rondo', requireApproval: 'always' })];
    const agent = new Agent({ name: 'Cautious', model: 'cautious', tools });
    const turns = [{ calls: [command('echo approved')] }, { text: 'It is done.' }];

    const asked = await createRunner().run(agent, about('agents approve', turns));
    const [interruption] = asked.interruptions;
    if (!interruption) throw new Error('nothing was asked');
    asked.state.approve(interruption);
    const done = await createRunner().run(agent, asked.state);

    expect(done.finalOutput).toBe('It is done.');
  });
});

describe('@anthropic-ai/sdk 0', () => {
  it('streams the events of a session, and gives the result of a custom tool', async () => {
    const { beta } = new Anthropic({ baseURL: `${deployment.client.url}/anthropic`, apiKey: deployment.client.key });
    const environment = await beta.environments.create({ name: 'other generation' });
    const input_schema = { type: 'object' as const, properties: { city: { type: 'string' } } };
    const tools = [{ type: 'custom' as const, name: 'get_weather', description: 'The weather.', input_schema }];
    const agent = await beta.agents.create({ name: 'Other', model, tools });
    const session = await beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    const stream = await beta.sessions.events.stream(session.id);
    const turns = [{ calls: [call('get_weather', { city: 'Oslo' })] }, { text: 'Take a coat.' }];
    const content = [{ type: 'text' as const, text: about('anthropic 0', turns) }];
    await beta.sessions.events.send(session.id, { events: [{ type: 'user.message', content }] });
    const types: string[] = [];
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === 'agent.custom_tool_use')
        await beta.sessions.events.send(session.id, {
          events: [
            {
              type: 'user.custom_tool_result',
              custom_tool_use_id: event.id,
              content: [{ type: 'text', text: 'Rain.' }],
            },
          ],
        });
      if (event.type === 'agent.message') expect(event.content).toMatchObject([{ text: 'Take a coat.' }]);
      if (event.type === 'session.status_idle' && event.stop_reason.type === 'end_turn') break;
    }
    expect(types).toContain('agent.message');
    await expect(beta.sessions.retrieve('sesn_none')).rejects.toBeInstanceOf(Anthropic.NotFoundError);
  });
});
