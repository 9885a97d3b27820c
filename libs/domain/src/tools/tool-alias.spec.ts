import fc from 'fast-check';
import { z } from 'zod';
import { toolAliases } from './alias.tools';
import { builtInTools, implementedTools } from './catalog';
import { endsTurn } from './conversation.tools';
import { type ToolDefinition, defineTool, toEffect } from './define-tool';
import { toAlias, targetArguments } from './tool-alias';
import { toolSet } from './tool-set';
import { toSnapshot } from './tool-set-snapshot';

/** Values that a schema accepts, as far as the schemas of aliases go. */
function validFor(schema: unknown): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return validFor(schema.unwrap());
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  const numbers = [0, 1, 2, 15, 600, 4096, -1, 2.5];
  const texts = ['x', '', 'session_1', 'a b', 'src/main.ts', '755', 'line\nline'];
  const candidates = [...numbers, ...texts];
  const accepted = candidates.filter((value) => schema instanceof z.ZodType && schema.safeParse(value).success);
  if (accepted.length === 0) throw new Error('no value is accepted');
  return fc.constantFrom(...accepted);
}

const validArguments = ({ input }: ToolDefinition): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .record(
      Object.fromEntries(
        Object.entries(input.shape).map(([name, schema]) => [name, fc.option(validFor(schema), { nil: undefined })]),
      ),
    )
    .map((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
    .filter((given) => input.safeParse(given).success);

const createTarget = ({ alias }: ToolDefinition): ToolDefinition => {
  const target = implementedTools.find(({ name }) => name === alias?.of);
  if (!target) throw new Error(`nothing is named ${alias?.of}`);
  return target;
};

describe('aliases', () => {
  it.each(toolAliases)('$name: what its schema accepts, its target accepts, and both have one effect class', (tool) => {
    const target = createTarget(tool);
    fc.assert(
      fc.property(validArguments(tool), (given) => {
        const { alias } = tool;
        const mapped =
          alias && targetArguments(alias, z.record(z.string(), z.unknown()).parse(tool.input.parse(given)));
        expect(target.input.safeParse(mapped)).toMatchObject({ success: true });
        expect(toEffect(tool, given)).toBe(toEffect(target, mapped));
      }),
      { numRuns: 200 },
    );
  });

  it.each(toolAliases)('$name has the limits of its target, and ends no turn', (tool) => {
    const { runsIn, timeoutMs, group } = createTarget(tool);

    expect(tool).toMatchObject({ runsIn, timeoutMs, group });
    expect(endsTurn(createTarget(tool).name)).toBe(false); // the loop knows these by name
  });

  it('maps arguments by name, and lets no argument replace one that is fixed', () => {
    const target = defineTool({
      name: 'send',
      description: 'Send.',
      input: z.strictObject({ to: z.string(), text: z.string(), copies: z.number().default(1) }),
      effect: ({ to }: { to: string }) => (to === 'me' ? 'pure' : 'unsafe'),
      runsIn: 'executor',
      timeoutMs: 1_000,
      group: 'files',
      xml: { content: 'text' },
    });
    const tool = toAlias(target, { name: 'tell', parameters: { who: 'to', words: 'text' }, fixed: { copies: 2 } });
    if (!tool.alias) throw new Error('it is an alias');

    expect(targetArguments(tool.alias, { who: 'me', words: 'x', copies: 9 })).toEqual({
      to: 'me',
      text: 'x',
      copies: 2,
    });
    expect([toEffect(tool, { who: 'me', words: '' }), toEffect(tool, { who: 'you', words: '' })]).toEqual([
      'pure',
      'unsafe',
    ]);
    expect(toEffect(tool, { to: 'me' })).toBe('unsafe');
    expect(tool.xml).toEqual({ content: 'words' });
  });

  it('is offered only where its target exists', () => {
    const [bash] = toolAliases;
    if (!bash) throw new Error('there are aliases');

    expect(toolSet([bash], ['bash']).offered).toEqual([]);
    expect(toolSet([bash, createTarget(bash)], ['bash']).offered).toEqual([bash]);
  });

  it('says in the snapshot of a tool set what it stands for', () => {
    const { tools } = toSnapshot(builtInTools);

    expect(tools.find(({ name }) => name === 'bash')).toMatchObject({ alias_of: 'execute_command' });
    expect(tools.find(({ name }) => name === 'execute_command')).not.toHaveProperty('alias_of');
  });
});
