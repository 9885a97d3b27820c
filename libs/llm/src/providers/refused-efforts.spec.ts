import type { LlmSettings } from '@rondo/contract';
import type { ProviderSettings } from '@rondo/domain';
import { AnthropicProtocol } from '../anthropic/anthropic-protocol';
import { OpenAiProtocol } from '../openai/openai-protocol';
import { ProviderError } from '../provider-error';
import { ResponsesProtocol } from '../responses/responses-protocol';
import { requestTo } from '../testing/read-model-reply';
import type { WireProtocol } from '../wire-protocol';
import { type EffortRules, learnEfforts } from './refused-efforts';

const provider = (name: string, kind: ProviderSettings['kind'] = 'openai'): ProviderSettings => ({
  name,
  kind,
  apiKey: 'k',
  headers: {},
  models: [],
});
const refused = (message: string) => new ProviderError('invalid_request', message);
const tool = { name: 'look', description: 'Looks.', schema: { type: 'object', properties: {} } };
const wide = "'none', 'low', 'medium', 'high', and 'xhigh'";

describe('the efforts of a model', () => {
  it.each([
    [`Unsupported value: 'max' is not supported with the 'gpt-5.5' model. Supported values are: ${wide}.`, wide],
    [
      "Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'low' and 'high'.",
      'low high',
    ],
    [
      `Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: ${wide}.`,
      wide,
    ],
    [
      "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
      'low medium high max',
    ],
    ['`reasoning_effort` must be one of `low`, `medium`, or `high`', 'low medium high'],
    [
      "reasoning_effort\n  Input should be 'low', 'medium' or 'high' [type=enum, input_value='none']",
      'low medium high',
    ],
    ["Validation error for `reasoning_effort`: expected one of `'low' | 'high'`, received `'xhigh'`.", 'low high'],
    ['The reasoning effort "max" is not supported, valid levels: low, medium, high, xhigh', 'low medium high xhigh'],
  ])('are those that a refusal lists: %s', (message, list) => {
    expect(learnEfforts<EffortRules>({}, message)?.efforts).toEqual(
      list.match(/[a-z]+/g)?.filter((word) => word !== 'and'),
    );
  });

  it.each([
    'Budget 0 is invalid. This model only works in thinking mode.',
    "Unable to submit request because Thinking can't be disabled for this model.",
    'Reasoning is mandatory for this endpoint and cannot be disabled.',
  ])('are all but none where a model always thinks: %s', (message) => {
    const rules = learnEfforts<EffortRules>({ efforts: ['none', 'low', 'high'] }, message);
    expect(rules?.efforts).toEqual(['low', 'high']);
    expect(learnEfforts(rules ?? {}, message)).toBeUndefined();
  });

  it.each([
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    '`reasoning_effort` must be one of `none` or `default`',
    "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    'The size must be one of low, medium, high.',
  ])('are not learned from other refusals: %s', (message) => {
    expect(learnEfforts({}, message)).toBeUndefined();
  });

  it('are learned once: a second refusal with the same list is about something else', () => {
    const message = 'reasoning_effort must be one of low, high';
    expect(learnEfforts({ efforts: ['low', 'high'] }, message)).toBeUndefined();
  });

  it.each<[string, () => WireProtocol, LlmSettings, string, string]>([
    [
      'Responses: the next weaker one stands for one that it lacks',
      () => new ResponsesProtocol(provider('openai')),
      { reasoning_effort: 'max' },
      `Unsupported value: 'max' is not supported with the 'm' model. Supported values are: ${wide}.`,
      'xhigh',
    ],
    [
      'Responses: the weakest stands for none',
      () => new ResponsesProtocol(provider('openai')),
      { enable_thinking: false },
      "Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'low' and 'high'.",
      'low',
    ],
    [
      'Chat Completions: the weakest stands for one that is weaker still',
      () => new OpenAiProtocol(provider('acme')),
      { reasoning_effort: 'minimal' },
      'reasoning_effort must be one of low, high',
      'low',
    ],
    [
      'Messages: the next weaker one stands for one that it lacks',
      () => new AnthropicProtocol(provider('anthropic', 'anthropic')),
      { reasoning_effort: 'xhigh' },
      "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
      'high',
    ],
  ])('are learned in %s', (_, create, settings, message, used) => {
    const protocol = create();
    const model = protocol instanceof AnthropicProtocol ? 'anthropic/claude-opus-4-6' : 'openai/gpt-6.1-sol';
    const request = requestTo(model, { settings, tools: protocol instanceof ResponsesProtocol ? [tool] : [] });

    expect(protocol.learn?.(request, refused(message))).toBe(true);

    const { params, notes } = protocol.request(request);
    expect(notes?.effort).toBe(used);
    expect(JSON.stringify(params)).toContain(`effort":"${used}"`);
  });
});
