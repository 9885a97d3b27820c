import { type RondoClient, call, command } from '@rondo/test-deployment';
import OpenAI from 'openai';
import { FacadeDeployment, about, long } from './facade-deployment';

type Input = OpenAI.Responses.ResponseInput;
type Event = OpenAI.Responses.ResponseStreamEvent;

const deployment = FacadeDeployment.forSuite();
let openai: OpenAI;
beforeAll(() => {
  openai = connect(deployment.client);
});

const connect = ({ url, key }: RondoClient) => new OpenAI({ baseURL: `${url}/openai/v1`, apiKey: key });

const model = 'demo/scripted';
const getWeather = {
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const weather = { type: 'function' as const, ...getWeather, strict: false };

const textIn = (events: readonly Event[]): string =>
  events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('');

function expectInOrder(events: readonly Event[]): void {
  const numbers = events.map(({ sequence_number: number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
}

/** Reads until the text has this length, or the stream ends. */
async function readSome(stream: AsyncIterable<Event>, length = Infinity): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) {
    events.push(event);
    if (textIn(events).length >= length) break;
  }
  return events;
}

/** Reads until the stream is cut by what is done when text comes. */
async function readUntilCut(stream: AsyncIterable<Event>, cut: () => Promise<void>): Promise<Event[]> {
  const events: Event[] = [];
  let cutting: Promise<void> | undefined;
  try {
    for await (const event of stream) {
      events.push(event);
      if (event.type === 'response.output_text.delta') cutting ??= cut();
    }
  } catch {
    await cutting;
    return events;
  }
  throw new Error('the stream was not cut');
}

describe('models', () => {
  it('are the stored agents by their names, and the models of the deployment', async () => {
    await deployment.client.json('PUT', '/agents/by-name/reviewer', { definition: { model } });
    const ids: string[] = [];
    for await (const { id } of openai.models.list()) ids.push(id);
    expect(ids).toEqual(expect.arrayContaining(['reviewer', 'demo/coder']));
    expect(await openai.models.retrieve('reviewer')).toMatchObject({ id: 'reviewer', object: 'model' });
    const response = await openai.responses.create({
      model: 'reviewer',
      input: about('agent', [{ text: 'I have read it.' }]),
    });
    expect(response).toMatchObject({ model: 'reviewer', output_text: 'I have read it.' });
  });
});

describe('responses', () => {
  it('are whole, with a tool of the deployment and the usage', async () => {
    const turns = [{ text: 'I look.', calls: [command('echo seen')] }, { text: 'I have seen it.' }];
    const response = await openai.responses.create({ model, input: about('whole', turns) });

    expect(response).toMatchObject({ object: 'response', status: 'completed', model, error: null });
    expect(response.output.map(({ type }) => type)).toEqual(['message', 'mcp_call', 'message']);
    expect(response.output[1]).toMatchObject({
      name: 'execute_command',
      output: expect.stringContaining('seen') as string,
    });
    expect(response.output_text).toBe('I look.I have seen it.');
    expect(response.usage?.output_tokens).toBeGreaterThan(0);
    expect(await openai.responses.retrieve(response.id)).toEqual(response);
    const items = await openai.responses.inputItems.list(response.id);
    expect(items.data).toMatchObject([{ type: 'message', role: 'user', content: [{ type: 'input_text' }] }]);
  });

  it('are streamed, and replayed with the same numbers by each gateway', async () => {
    const turns = [{ text: 'I look. '.repeat(20), pace_ms: 2, calls: [command('echo seen')] }, { text: 'Seen.' }];
    const stream = openai.responses.stream({ model, input: about('streamed', turns) });
    const events: Event[] = [];
    for await (const event of stream) events.push(event);
    const final = await stream.finalResponse();

    expectInOrder(events);
    expect(final.output_text).toBe(`${'I look. '.repeat(20)}Seen.`);
    expect(textIn(events)).toBe(final.output_text);
    for (const gateway of [deployment.client, deployment.other]) {
      const replayed = await readSome(await connect(gateway).responses.retrieve(final.id, { stream: true }));
      const about = ({ type, sequence_number: number }: Event) => `${type} ${number}`;
      const whole = (list: readonly Event[]) => list.filter(({ type }) => !type.endsWith('.delta')).map(about);
      expect(whole(replayed)).toEqual(whole(events));
      expect(textIn(replayed)).toBe(final.output_text);
    }
  });

  it('go on with previous_response_id, which must be the newest', async () => {
    const first = await openai.responses.create({ model, input: about('first', [{ text: 'One.' }]) });
    const second = await openai.responses.create({
      model,
      input: about('second', [{ text: 'Two.' }]),
      previous_response_id: first.id,
    });
    expect(second).toMatchObject({ output_text: 'Two.', previous_response_id: first.id });
    expect(second.conversation).toEqual(first.conversation);
    await expect(
      openai.responses.create({ model, input: 'Three?', previous_response_id: first.id }),
    ).rejects.toMatchObject({ status: 400, code: 'previous_response_not_latest' });
  });

  it('ask for the approval of a call, and go on with the answer', async () => {
    const definition = { model, tools: { execute_command: { require_approval: true } } };
    await deployment.client.json('PUT', '/agents/by-name/careful', { definition });
    const turns = [{ calls: [command('echo approved')] }, { text: 'It is done.' }];
    const asked = await openai.responses.create({ model: 'careful', input: about('approval', turns) });
    const request = asked.output.find(({ type }) => type === 'mcp_approval_request');
    if (request?.type !== 'mcp_approval_request') throw new Error(`nothing was asked: ${JSON.stringify(asked)}`);
    expect(request).toMatchObject({ server_label: 'rondo', name: 'execute_command' });
    const answer = { type: 'mcp_approval_response' as const, approval_request_id: request.id, approve: true };
    const done = await openai.responses.create({ previous_response_id: asked.id, input: [answer] });
    expect(done).toMatchObject({ status: 'completed', output_text: 'It is done.' });
    expect(done.output[0]).toMatchObject({
      ...{ type: 'mcp_call', approval_request_id: request.id },
      output: expect.stringContaining('approved') as string,
    });
    await expect(openai.responses.create({ previous_response_id: done.id, input: [answer] })).rejects.toMatchObject({
      status: 409,
    });
  });

  it('hand calls of functions to the client, and go on with their outputs', async () => {
    const turns = [{ calls: [call('get_weather', { city: 'Bergen' })] }, { text: 'Take an umbrella.' }];
    const asked = await openai.responses.create({ model, input: about('function', turns), tools: [weather] });
    const [wanted] = asked.output;
    if (wanted?.type !== 'function_call') throw new Error(`there was no call: ${JSON.stringify(asked.output)}`);
    expect(JSON.parse(wanted.arguments)).toEqual({ city: 'Bergen' });
    await expect(
      openai.responses.create({ model, input: 'And?', previous_response_id: asked.id }),
    ).rejects.toMatchObject({
      status: 400,
      param: 'input',
      message: expect.stringContaining(wanted.call_id) as string,
    });

    const output: Input = [{ type: 'function_call_output', call_id: wanted.call_id, output: 'Rain.' }];
    const answer = await openai.responses.create({ model, input: output, previous_response_id: asked.id });

    expect(answer).toMatchObject({ output_text: 'Take an umbrella.', previous_response_id: asked.id });
    expect(answer.id).not.toBe(asked.id);
    expect(await openai.responses.retrieve(asked.id)).toEqual(asked);
    await expect(openai.responses.create({ model, input: output })).rejects.toMatchObject({ status: 404 });
  });

  it('take the outputs of calls from a client that sends its whole history without the ids of items', async () => {
    const question = {
      role: 'user' as const,
      content: about('without ids', [{ calls: [call('get_weather', {})] }, { text: 'Sun.' }]),
    };
    const asked = await openai.responses.create({ model, input: [question], tools: [weather] });
    const [wanted] = asked.output;
    if (wanted?.type !== 'function_call') throw new Error(`there was no call: ${JSON.stringify(asked.output)}`);
    const { type, call_id, name, arguments: written } = wanted;
    const input = [question, { type, call_id, name, arguments: written }, functionOutput(asked, 'Sun.')] as Input;
    const answer = await openai.responses.create({ model, input, tools: [weather] });
    expect(answer).toMatchObject({ output_text: 'Sun.', conversation: asked.conversation });
  });

  it('ask in words, unless the client declares a function for it', async () => {
    const turns = [{ calls: [call('ask', { text: 'Which colour?' })] }, { text: 'It is blue.' }];
    const inWords = await openai.responses.create({ model, input: about('ask in words', turns) });
    expect(inWords).toMatchObject({ status: 'completed', output_text: 'Which colour?' });
    const blue = await openai.responses.create({ model, input: 'Blue.', previous_response_id: inWords.id });
    expect(blue.output_text).toBe('It is blue.');

    const tools = [{ type: 'function' as const, name: 'ask', parameters: { type: 'object' }, strict: false }];
    const called = await openai.responses.create({ model, input: about('ask by call', turns), tools });
    expect(called.output).toMatchObject([{ type: 'function_call', name: 'ask' }]);
    const input: Input = [...called.output, functionOutput(called, 'Blue.')] as Input;
    const next = await openai.responses.create({ model, input, tools });
    expect(next).toMatchObject({ output_text: 'It is blue.', conversation: called.conversation });
  });

  it('have the whole text once after cuts, and a kill of the gateway', async () => {
    const input = about('killed', [{ text: long, pace_ms: 20 }]);
    const stream = await openai.responses.create({ model, input, background: true, stream: true });
    const begun = await readSome(stream, 100);
    const created = begun[0];
    if (created?.type !== 'response.created') throw new Error('the first event was another one');
    const { id } = created.response;
    const last = (events: readonly Event[]) => events.at(-1)?.sequence_number ?? 0;
    expect((await connect(deployment.other).responses.retrieve(id)).output_text.startsWith(textIn(begun))).toBe(true);

    const resume = async (through: RondoClient, after: readonly Event[]) =>
      connect(through).responses.retrieve(id, { stream: true, starting_after: last(after) });
    const more = await readSome(await resume(deployment.other, begun), 100);
    const cut = await readUntilCut(await resume(deployment.client, more), () => deployment.killGateway());
    const rest = await readSome(await resume(deployment.other, cut));

    const all = [...begun, ...more, ...cut, ...rest];
    expectInOrder(all);
    expect(textIn(all)).toBe(long);
    await deployment.client.waitForRun(id.replace('resp_', 'run_')); // the killed gateway is back
  });

  it('replace what a killed worker has said, in the stream that goes on', async () => {
    const input = about('killed worker', [{ text: long, pace_ms: 10 }]);
    const stream = await connect(deployment.other).responses.create({ model, input, stream: true });
    let killing: Promise<void> | undefined;
    const events: Event[] = [];
    for await (const event of stream) {
      events.push(event);
      if (textIn(events).length > 100) killing ??= deployment.killWorkers();
    }
    await killing;
    expectInOrder(events);
    const output = [{ status: 'completed', content: [{ text: long }] }];
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { output } });
    const withdrawn = events.find((event) => event.type === 'response.output_item.done');
    expect(withdrawn).toMatchObject({ item: { status: 'incomplete' } });
  });

  it('run in the background, and are cancelled', async () => {
    const input = about('background', [{ text: long, pace_ms: 20 }]);
    const begun = await openai.responses.create({ model, input, background: true });
    expect(['queued', 'in_progress']).toContain(begun.status);
    await expect(
      openai.responses.create({ model, input: 'Wait.', previous_response_id: begun.id }),
    ).rejects.toMatchObject({ status: 409, code: 'conversation_locked' });
    expect(await openai.responses.cancel(begun.id)).toMatchObject({ status: 'cancelled' });
    expect(await openai.responses.retrieve(begun.id)).toMatchObject({ status: 'cancelled' });
    await openai.responses.delete(begun.id);
    await expect(openai.responses.retrieve(begun.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });
});

function functionOutput({ output }: OpenAI.Responses.Response, said: string) {
  const wanted = output.find(({ type }) => type === 'function_call') as { call_id: string } | undefined;
  return { type: 'function_call_output', call_id: wanted?.call_id ?? 'none', output: said };
}

describe('conversations', () => {
  it('are of the person that their metadata names', async () => {
    const { id } = await openai.conversations.create({ metadata: { user: 'ada' } });
    const path = `/threads/${id.replace('conv_', 'thr_')}`;
    expect(await deployment.client.json('GET', path)).toMatchObject({ user: 'ada' });
  });

  it('are threads with items', async () => {
    const conversation = await openai.conversations.create({
      metadata: { topic: 'colours' },
      items: [{ role: 'user', content: 'My colour is blue.' }],
    });
    const added = await openai.conversations.items.create(conversation.id, {
      items: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Yours is red.' }] }],
    });
    expect(added.data).toMatchObject([
      { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'Yours is red.' }] },
    ]);
    const input = about('in a conversation', [{ text: 'Noted.' }]);
    const response = await openai.responses.create({ model, input, conversation: conversation.id });
    expect(response.conversation).toEqual({ id: conversation.id });

    const items: object[] = [];
    for await (const item of openai.conversations.items.list(conversation.id, { order: 'asc', limit: 2 }))
      items.push(item);
    expect(items).toMatchObject([
      { content: [{ text: 'My colour is blue.' }] },
      { content: [{ text: 'Yours is red.' }] },
      { role: 'user', content: [{ text: input }] },
      { role: 'assistant', content: [{ text: 'Noted.' }] },
    ]);
    await expect(
      openai.conversations.items.retrieve('none', { conversation_id: conversation.id }),
    ).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    expect(await openai.conversations.retrieve(conversation.id)).toMatchObject({ metadata: { topic: 'colours' } });
    await openai.conversations.delete(conversation.id);
    await expect(openai.conversations.retrieve(conversation.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('chat completions', () => {
  const ask = (text: string, ...turns: Record<string, unknown>[]) =>
    ({ role: 'user', content: about(text, turns) }) as const;

  it('answer, and go on on the thread of the messages before', async () => {
    const first = ask('chat', { text: 'One.' });
    const one = await openai.chat.completions.create({ model, messages: [first] });
    expect(one.choices).toMatchObject([{ message: { role: 'assistant', content: 'One.' }, finish_reason: 'stop' }]);
    expect(one.usage?.completion_tokens).toBeGreaterThan(0);
    const messages = [first, { role: 'assistant', content: 'One.' } as const, ask('again', { text: 'Two.' })];
    const two = await openai.chat.completions.create({ model, messages });
    expect(two.choices[0]?.message.content).toBe('Two.');
    const threads = await Promise.all(
      [one, two].map(({ id }) => deployment.client.run(id.replace('chatcmpl_', 'run_'))),
    );
    expect(threads[0]?.thread_id).toBe(threads[1]?.thread_id);
  });

  it('of two people who say the same are on threads of their own', async () => {
    const first = ask('the same words', { text: 'One.' });
    const say = (user: string, ...later: OpenAI.ChatCompletionMessageParam[]) =>
      openai.chat.completions.create({ model, safety_identifier: user, messages: [first, ...later] });
    const [ada] = [await say('ada'), await say('bob')];
    const next = await say('ada', { role: 'assistant', content: 'One.' }, ask('hers', { text: 'Two.' }));
    const [run, later] = await Promise.all(
      [ada, next].map(({ id }) => deployment.client.run(id.replace('chatcmpl_', 'run_'))),
    );
    expect(later).toMatchObject({ thread_id: run?.thread_id, user: 'ada' });
  });

  it('stream, with the usage at the end', async () => {
    const stream = await openai.chat.completions.create({
      model,
      messages: [ask('chat stream', { text: 'Hello, world.', calls: [command('echo x')] }, { text: 'Bye.' })],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello, world.\n\nBye.');
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
  });

  it('hand calls of functions to the client, which are run by its runner', async () => {
    const runner = openai.chat.completions.runTools({
      model,
      messages: [ask('chat tools', { calls: [call('get_weather', { city: 'Oslo' })] }, { text: 'Sun it is.' })],
      tools: [{ type: 'function', function: { ...getWeather, parse: JSON.parse, function: () => 'Sun.' } }],
    });
    expect(await runner.finalContent()).toBe('Sun it is.');
  });
});

describe('refusals', () => {
  const failed = async (promise: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> => {
    const error: unknown = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof OpenAI.APIError) return error;
    throw new Error(`there was no refusal, but ${String(error)}`);
  };

  it('are errors of the types that the client has for them', async () => {
    const stranger = new OpenAI({ baseURL: `${deployment.client.url}/openai/v1`, apiKey: 'wrong' });
    expect(await failed(stranger.models.list())).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(await failed(openai.responses.retrieve('resp_none'))).toBeInstanceOf(OpenAI.NotFoundError);
    const tenant = await deployment.newTenant();
    const own = await openai.responses.create({ model, input: about('own', [{ text: 'Mine.' }]) });
    expect(await failed(connect(tenant).responses.retrieve(own.id))).toBeInstanceOf(OpenAI.NotFoundError);
  });

  it.each([
    ['store', { store: false }],
    ['include', { include: ['reasoning.encrypted_content'] }],
    ['truncation', { truncation: 'auto' }],
    ['tools.0.type', { tools: [{ type: 'web_search' }] }],
    ['max_tool_calls', { max_tool_calls: 3 }],
    ['temprature', { temprature: 1 }],
    ['input.0', { input: [{ type: 'computer_call_output' }] }],
  ])('name the field %s', async (param, field) => {
    const request = { model, input: 'x', ...field } as OpenAI.Responses.ResponseCreateParamsNonStreaming;
    const error = await failed(openai.responses.create(request));
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ param, type: 'invalid_request_error' });
    expect(error.headers?.get('x-should-retry')).toBe('false');
  });

  it('name what is not served', async () => {
    const error = await failed(openai.embeddings.create({ model, input: 'x' }));
    expect(error).toMatchObject({ status: 404, code: 'not_served' });
    expect(error.message).toContain('POST /openai/v1/embeddings is not served here: Rondo runs agents.');
    expect(await failed(openai.conversations.update('conv_1', { metadata: {} }))).toMatchObject({ status: 405 });
  });
});
