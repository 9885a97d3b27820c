import type { ModelTool, ProviderSettings } from '@rondo/domain';
import { AnthropicProtocol } from '../anthropic/anthropic-protocol';
import { OpenAiProtocol } from '../openai/openai-protocol';
import { ProviderError } from '../provider-error';
import { ResponsesProtocol } from '../responses/responses-protocol';
import { requestTo } from '../testing/read-model-reply';
import type { WireProtocol } from '../wire-protocol';

const provider = (name: string, kind: ProviderSettings['kind'] = 'openai'): ProviderSettings => ({
  name,
  kind,
  apiKey: 'k',
  headers: {},
  models: [],
});
const refused = (message: string) => new ProviderError('invalid_request', message);
const tool = (name: string, property: object = { type: 'string' }): ModelTool => ({
  name,
  description: 'Does it.',
  schema: { type: 'object', properties: { a: property } },
});
const patterned = tool('second', { type: 'string', pattern: '.*x' });
const sent = (protocol: WireProtocol, tools: ModelTool[]) => {
  const { params, notes } = protocol.request(requestTo('acme/m', { tools }));
  return { text: JSON.stringify(params), notes };
};

describe.each<[string, () => WireProtocol]>([
  ['Chat Completions', () => new OpenAiProtocol(provider('acme'))],
  ['Responses', () => new ResponsesProtocol(provider('acme'))],
  ['Messages', () => new AnthropicProtocol(provider('acme', 'anthropic'))],
])('tools that a server of %s refuses', (_, create) => {
  const learn = (protocol: WireProtocol, tools: ModelTool[], error: ProviderError) =>
    protocol.learn?.(requestTo('acme/m', { tools }), error);

  it.each([
    refused("JSON schema conversion failed:\nPattern must start with '^' and end with '$'"),
    new ProviderError('api_error', 'Failed to initialize samplers: failed to parse grammar'),
    refused('tools.function.parameters is not a valid moonshot flavored json schema'),
  ])('have plain schemas from then on: %s', (error) => {
    const protocol = create();
    expect(sent(protocol, [patterned]).text).toContain('"pattern"');
    expect(learn(protocol, [patterned], error)).toBe(true);
    expect(sent(protocol, [patterned]).text).not.toContain('"pattern"');
  });

  it.each([
    "Invalid schema for function 'second': no.",
    'tools[1].function.parameters: no',
    'tools.1.custom.input_schema: no',
  ])('are left out if that did not help, and no other is: %s', (message) => {
    const protocol = create();
    const tools = [tool('first'), patterned, tool('third')];
    expect(learn(protocol, tools, refused(message))).toBe(true);
    expect(sent(protocol, tools).notes?.omittedTools).toBeUndefined();
    expect(learn(protocol, tools, refused(message))).toBe(true);
    expect(sent(protocol, tools).notes?.omittedTools).toEqual(['second']);
    expect(sent(protocol, tools).text).not.toContain('"second"');
    expect(sent(protocol, [tool('second')]).notes?.omittedTools).toBeUndefined(); // another run's, of the same name
  });

  it.each(["Invalid schema for function 'second': no.", 'tools[1].function.parameters: no'])(
    'leave the schemas of others as they are, where it names them: %s',
    (message) => {
      const protocol = create();
      const other = tool('first', { type: 'string', pattern: 'y.*' });
      expect(learn(protocol, [other, patterned], refused(message))).toBe(true);

      expect(sent(protocol, [other, patterned]).text).toContain('"y.*"');
      expect(sent(protocol, [other, patterned]).text).not.toContain('".*x"');
    },
  );

  it('have all plain schemas once it has refused two of a request, and then a third one', () => {
    const protocol = create();
    const names = ['a', 'b', 'c', 'd'];
    const tools = names.map((name) => tool(name, { type: 'string', pattern: `${name}.*` }));
    const patternsAfter = names.slice(0, 3).map((name) => {
      learn(protocol, tools, refused(`Invalid schema for function '${name}'`));
      return names.filter((one) => sent(protocol, tools).text.includes(`"${one}.*"`)).join('');
    });

    expect(patternsAfter).toEqual(['bcd', 'cd', '']);
  });

  it('are learned together where one refusal names several', () => {
    const protocol = create();
    const tools = ['a', 'b', 'c'].map((name) => tool(name, { type: 'string', pattern: `${name}.*` }));
    learn(protocol, tools, refused('tools[0].function.parameters: no; tools[2].function.parameters: no'));

    const { text } = sent(protocol, tools);
    expect(['a', 'b', 'c'].filter((name) => text.includes(`"${name}.*"`))).toEqual(['b']);
  });

  it('are not meant by a refusal of the schema of the reply', () => {
    const error = refused("Invalid schema for response_format 'answer'");
    expect(learn(create(), [patterned], error)).toBe(false);
  });
});

it('declares no argument to Anthropic whose name it refuses, but tells of it', () => {
  const odd = {
    name: 'odd',
    description: 'Odd.',
    schema: { type: 'object', properties: { '$.x': { type: 'string' }, a: {} }, required: ['$.x', 'a'] },
  };
  const { params } = new AnthropicProtocol(provider('anthropic', 'anthropic')).request(
    requestTo('anthropic/m', { tools: [odd] }),
  );
  expect(params).toMatchObject({
    tools: [
      {
        input_schema: {
          type: 'object',
          properties: { a: {} },
          required: ['a'],
          description: 'It also has these arguments: {"$.x":{"type":"string"}}',
        },
      },
    ],
  });
});
