import fc from 'fast-check';
import { z } from 'zod';
import { tools } from './catalog';
import { type ToolDefinition, defineTool } from './define-tool';
import { fitArguments } from './fit-arguments';
import { executeCommand } from './shell.tools';

/** A tool of a server, which has only a schema. */
const toolWith = (parameters: Record<string, unknown>): ToolDefinition => ({
  name: 'zoo__make',
  description: 'Make something.',
  input: z.looseObject({}),
  parameters,
  effect: 'unsafe',
  runsIn: 'executor',
  timeoutMs: 1_000,
  group: 'external',
  source: { kind: 'mcp', server: 'zoo' } as never,
});

const make = toolWith({
  type: 'object',
  properties: {
    mark: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    isDeep: { type: 'boolean' },
    code: { type: ['string', 'number'] },
    choice: { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }] },
    maybe: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    node: { $ref: '#/$defs/node' },
  },
  required: ['mark'],
  additionalProperties: false,
  $defs: {
    node: { type: 'object', properties: { size: { type: 'integer' }, next: { $ref: '#/$defs/node' } } },
  },
});

describe('the arguments of a call', () => {
  it.each([
    [{ mark: 'm', count: null }, { mark: 'm' }, ['count null_left_out']],
    [{ mark: 'm', count: 'null' }, { mark: 'm' }, ['count null_left_out']],
    [{ mark: 'm', maybe: null }, { mark: 'm', maybe: null }, []],
    [
      { mark: 'm', tags: '["a","b"]', count: '3' },
      { mark: 'm', tags: ['a', 'b'], count: 3 },
      ['tags parsed', 'count parsed'],
    ],
    [
      { mark: 'm', isDeep: 'True', ratio: '2.5' },
      { mark: 'm', isDeep: true, ratio: 2.5 },
      ['isDeep parsed', 'ratio parsed'],
    ],
    [{ mark: 'm', extra: 1 }, { mark: 'm' }, ['extra unknown_left_out']],
    [{ mark: 'm', choice: '[1, "2"]' }, { mark: 'm', choice: [1, 2] }, ['choice parsed', 'choice.1 parsed']],
    [
      { mark: 'm', node: '{"next": {"size": "7"}}' },
      { mark: 'm', node: { next: { size: 7 } } },
      ['node parsed', 'node.next.size parsed'],
    ],
  ])('become what the schema says: %j', (given, expected, notes) => {
    const { arguments: fitted, changes } = fitArguments(make, given);

    expect(fitted).toEqual(expected);
    expect(changes.map(({ path, change }) => `${path} ${change}`)).toEqual(notes);
  });

  it.each([
    { mark: '0042', code: '0042' },
    { mark: 'true', code: '5' },
    { mark: '[1,2]' },
    { mark: null },
    { count: '0042', mark: 'm' },
    { mark: 'm', count: '12345678901234567890' },
    { mark: 'm', choice: '[12345678901234567890]' },
    { mark: 'm', count: '1.5' },
    { mark: 'm', tags: 'a' },
    { mark: 5 },
  ])('stay as they are where they are text, or remain wrong: %j', (given) => {
    expect(fitArguments(make, given)).toEqual({ arguments: given, changes: [] });
  });

  it('are repaired for a built-in tool, too', () => {
    const given = { command: 'ls', blocking: 'true', timeout: '20', folder: null, surplus: {} };

    const { arguments: fitted } = fitArguments(executeCommand, given);

    expect(fitted).toEqual({ command: 'ls', blocking: true, timeout: 20 });
    expect(executeCommand.input.safeParse(fitted).success).toBe(true);
  });

  it('are never changed where they are valid, whatever the schema', () => {
    const value: fc.Arbitrary<unknown> = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('5', 'true', 'null', '[1]', '{}', ''),
    );
    const leaf = fc.constantFrom<z.ZodType>(
      z.string(),
      z.number(),
      z.int(),
      z.boolean(),
      z.array(z.string()),
      z.number().nullable(),
      z.union([z.string(), z.array(z.number())]),
      z.record(z.string(), z.number()),
      z.strictObject({ a: z.int().optional() }),
      z.enum(['5', 'true']),
      z.unknown(),
      z.literal(5),
    );
    const shape = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.tuple(leaf, fc.boolean()));
    fc.assert(
      fc.property(shape, fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value), (fields, given) => {
        const parts = Object.entries(fields).map(([key, [type, isOptional]]) => [
          key,
          isOptional ? type.optional() : type,
        ]);
        const input = z.strictObject(Object.fromEntries(parts) as Record<string, z.ZodType>);
        const schema = z.toJSONSchema(input, { io: 'input' });
        const before = JSON.stringify(given);
        const fitted = fitArguments(toolWith(schema), given);

        expect(JSON.stringify(given)).toBe(before);
        if (input.safeParse(given).success) expect(fitted).toEqual({ arguments: given, changes: [] });
        else if (fitted.changes.length === 0) expect(fitted.arguments).toEqual(given);
      }),
      { numRuns: 2_000 },
    );
  });

  it('are never changed where a built-in tool accepts them', () => {
    for (const tool of tools) {
      if (!tool.example) continue;
      expect(fitArguments(defineTool(tool), { ...tool.example })).toEqual({ arguments: tool.example, changes: [] });
    }
  });
});
