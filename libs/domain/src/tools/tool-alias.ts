import { z } from 'zod';
import { type ToolAlias, type ToolDefinition, toEffect } from './define-tool';

interface AliasDefinition {
  readonly name: string;
  /** That of the target where it is absent. */
  readonly description?: string;
  /** The target's parameter that each parameter of the alias stands for. The others keep their defaults. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Arguments that the target always gets. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** Schemas of parameters that differ from the target's. What they accept, the target must accept too. */
  readonly shape?: z.ZodRawShape;
  readonly example?: Readonly<Record<string, unknown>>;
}

/**
 * Another name for a tool, with parameters of other names. The model, the ledger and the events have the alias and its
 * arguments; effect class, limits and handler are those of the target, which validates the arguments once more.
 */
export function toAlias(target: ToolDefinition, definition: AliasDefinition): ToolDefinition {
  const { name, description = target.description, parameters, fixed = {}, shape = {}, example } = definition;
  const alias: ToolAlias = { of: target.name, parameters, fixed };
  const renamed = Object.entries(parameters).map(([own, theirs]) => [own, toSchema(target, theirs)]);
  const content = Object.keys(parameters).find((own) => parameters[own] === target.xml?.content);
  return {
    name,
    description,
    input: z.strictObject({ ...(Object.fromEntries(renamed) as z.ZodRawShape), ...shape }), // fromEntries loses the type
    effect: (given, honoursKeys) => toEffect(target, targetArguments(alias, given), honoursKeys),
    runsIn: target.runsIn,
    timeoutMs: target.timeoutMs,
    group: target.group,
    alias,
    ...(target.powers && { powers: target.powers }),
    ...(target.needs && { needs: target.needs }),
    ...(target.isWaiting && { isWaiting: target.isWaiting }),
    ...(example && { example }),
    ...(content !== undefined && { xml: { content } }),
  };
}

/** What the target gets where the alias is called with these arguments. */
export const targetArguments = (
  { parameters, fixed }: ToolAlias,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  const theirs = new Map(Object.entries(parameters));
  return {
    ...Object.fromEntries(Object.entries(given).map(([own, value]) => [theirs.get(own) ?? own, value])),
    ...fixed,
  };
};

function toSchema({ name, input }: ToolDefinition, parameter: string): unknown {
  const schema = new Map<string, unknown>(Object.entries(input.shape)).get(parameter);
  if (!schema) throw new Error(`${name} has no parameter ${parameter}`);
  return schema;
}
