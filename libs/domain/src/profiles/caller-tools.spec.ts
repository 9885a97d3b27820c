import { type CallerTool, type SettingsRequest, settingsRequest } from '@rondo/contract';
import { effectiveSettings } from './effective-settings';

const weather: CallerTool = { name: 'get_weather', description: 'The weather of a city.' };
const taxi: CallerTool = { name: 'order_taxi', description: 'Orders a taxi.' };

const effective = (request: SettingsRequest) => effectiveSettings(request, { model: 'demo/coder' });
const namesIn = (request: SettingsRequest) => {
  const found = effective(request);
  return 'settings' in found ? (found.settings.caller_tools ?? []).map(({ name }) => name) : found.problems;
};

describe('the tools of a caller', () => {
  it('are those of the agent, unless the run names its own', () => {
    expect(namesIn({ agent: { caller_tools: [weather] } })).toEqual(['get_weather']);
    expect(namesIn({ agent: { caller_tools: [weather] }, caller_tools: [taxi] })).toEqual(['order_taxi']);
    expect(namesIn({ agent: { caller_tools: [weather] }, caller_tools: [] })).toEqual([]);
  });

  it('are offered beside the others, and stand in no list of tools', () => {
    const found = effective({ caller_tools: [weather], tools: { get_weather: true } });

    expect(found).toHaveProperty('settings.caller_tools', [weather]);
    expect('settings' in found && found.settings.tools).not.toContain('get_weather');
  });

  it.each<[string, SettingsRequest, string[]]>([
    ['by its name', { tools: { get_weather: false } }, ['order_taxi']],
    ['by their group', { tools: { caller: false } }, []],
    ['but one of the group', { tools: { caller: false, order_taxi: true } }, ['order_taxi']],
    [
      'and on again by the run',
      { agent: { tools: { caller: false } }, tools: { caller: true } },
      ['get_weather', 'order_taxi'],
    ],
  ])('can be switched off, %s', (_, request, left) => {
    expect(namesIn({ caller_tools: [weather, taxi], ...request })).toEqual(left);
  });

  it('take approvals and descriptions like any other tool', () => {
    const tools = { caller: { require_approval: true }, get_weather: { description: 'Another one.' } };

    expect(effective({ caller_tools: [weather], tools })).toMatchObject({
      settings: {
        approvals: { rules: { caller: true } },
        tool_policies: { get_weather: { description: 'Another one.' } },
      },
    });
  });

  it.each<[string, SettingsRequest, string]>([
    ['a built-in tool', { caller_tools: [weather, { ...taxi, name: 'read_file' }] }, 'caller_tools.1.name'],
    ['another name of one', { caller_tools: [{ ...taxi, name: 'bash' }] }, 'caller_tools.0.name'],
    ['a group', { agent: { caller_tools: [{ ...taxi, name: 'shell' }] } }, 'agent.caller_tools.0.name'],
    [
      'a tool of an MCP server',
      {
        caller_tools: [{ ...taxi, name: 'maps__route' }],
        mcp_servers: [{ name: 'maps', transport: 'stdio', command: 'maps' }],
      },
      'caller_tools.0.name',
    ],
    [
      'its own time',
      { caller_tools: [weather], tools: { get_weather: { timeout_s: 5 } } },
      'tools.get_weather.timeout_s',
    ],
  ])('are refused where they collide with %s', (_, request, field) => {
    expect(effective(request)).toEqual({ problems: [{ field, message: expect.any(String) }] });
  });

  const nested = (levels: number): object => (levels === 0 ? {} : { properties: { a: nested(levels - 1) } });

  it.each<[string, unknown, string]>([
    ['a name that no provider takes', { ...weather, name: 'get weather' }, 'name'],
    ['no description', { ...weather, description: '' }, 'description'],
    ['arguments that are no object', { ...weather, parameters: { type: 'string' } }, 'parameters.type'],
    [
      'a property that no model can write',
      { ...weather, parameters: { type: 'object', properties: { 'a b': {} } } },
      'parameters',
    ],
    [
      'a schema somewhere else',
      { ...weather, parameters: { type: 'object', properties: { a: { $ref: 'http://x/' } } } },
      'parameters',
    ],
    [
      'a required property that is not there',
      { ...weather, parameters: { type: 'object', required: ['a'] } },
      'parameters',
    ],
    ['a schema that is too deep', { ...weather, parameters: { type: 'object', ...nested(40) } }, 'parameters'],
    [
      'a schema that is too long',
      { ...weather, parameters: { type: 'object', description: 'x'.repeat(20_000) } },
      'parameters',
    ],
    ['a time that is too long', { ...weather, timeout_s: 90 * 86_400 }, 'timeout_s'],
    ['fields that nothing reads', { ...weather, url: 'http://x/' }, ''],
  ])('are refused with %s', (_, tool, field) => {
    const { error } = settingsRequest.safeParse({ caller_tools: [tool] });

    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([
      ['caller_tools.0', field].filter(Boolean).join('.'),
    ]);
  });

  it('are at most 128, each of another name, and of limited length together', () => {
    const many = (count: number, more: Partial<CallerTool> = {}) =>
      Array.from({ length: count }, (_, index) => ({ ...weather, name: `tool_${index}`, ...more }));
    const accepts = (tools: CallerTool[]) => settingsRequest.safeParse({ caller_tools: tools }).success;

    expect(accepts(many(128))).toBe(true);
    expect(accepts(many(129))).toBe(false);
    expect(accepts([weather, weather])).toBe(false);
    expect(accepts(many(100, { description: 'x'.repeat(4_000) }))).toBe(false);
  });
});
