import { type ToolResult, boundText } from '@rondo/contract';
import { memoize } from '../memoize';
import { type ToolDefinition, argumentsSchema } from './define-tool';
import type { ToolSet } from './tool-set';
import { doFit, listServers, usualToolSpace } from './tool-space';

/** All that the model may call, shown or not. */
export const callableTools = memoize(({ offered, search }: ToolSet): readonly ToolDefinition[] =>
  search ? [...offered, ...search.tools] : offered,
);

/**
 * The tools in the next request: those that are always offered, then the ones that the log says were loaded, in that order. Where
 * these have become too many, the ones that were loaded first are left out, until they are called or found again.
 */
export function listShownTools({ offered, search }: ToolSet, loaded: readonly string[]): readonly ToolDefinition[] {
  if (!search || loaded.length === 0) return offered;
  const found = loaded.flatMap((name) => search.tools.find((tool) => tool.name === name) ?? []);
  let first = 0;
  while (first < found.length - 1 && !doFit(found.slice(first), search.capacity)) first += 1;
  return [...offered, ...found.slice(first)];
}

/** Those of the named tools that the model would be shown only once they are loaded. */
export function notShown(set: ToolSet, loaded: readonly string[], names: readonly string[]): string[] {
  const { search } = set;
  if (!search) return [];
  const shown = listShownTools(set, loaded);
  const isIn = (tools: readonly ToolDefinition[], wanted: string) => tools.some(({ name }) => name === wanted);
  return names.filter((name) => isIn(search.tools, name) && !isIn(shown, name));
}

const shownCharacters = 300;

/** The answer to a call of `tool_search`, and the tools that it finds. */
export function searchTools(
  { search }: ToolSet,
  { query, limit }: { readonly query: string; readonly limit: number },
): { readonly result: ToolResult; readonly found: readonly string[] } {
  const { tools, capacity } = search ?? { tools: [], capacity: usualToolSpace };
  const found = rank(tools, query).slice(0, Math.min(limit, capacity.tools));
  const lines = found.map(({ name, description }) => `- ${name}: ${boundText(description, shownCharacters)}`);
  const output =
    found.length === 0
      ? `No tool matches. There are tools of these servers: ${listServers(tools) || 'none'}.`
      : `You can call these tools. Their parameters are among the definitions of your tools from your next turn on.\n${lines.join('\n')}`;
  return { result: { success: true, output }, found: found.map(({ name }) => name) };
}

/** A word says the more, the fewer tools have it; in the name it says more than elsewhere. */
const weightOfName = 3;

/** The tools that have words of the query, best first; equal ones in the order of the servers. A name is found by itself. */
function rank(tools: readonly ToolDefinition[], query: string): ToolDefinition[] {
  const named = tools.filter(({ name }) => query.split(/[\s,]+/).includes(name));
  const scores = new Map<ToolDefinition, number>();
  for (const word of new Set(toWords(query))) {
    const having = tools.filter((tool) => weigh(tool, word) > 0);
    const rarity = Math.log(1 + tools.length / Math.max(1, having.length));
    for (const tool of having) scores.set(tool, (scores.get(tool) ?? 0) + weigh(tool, word) * rarity);
  }
  const others = [...tools].filter((tool) => scores.has(tool) && !named.includes(tool));
  return [...named, ...others.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0))];
}

const listWords = memoize((tool: ToolDefinition) => ({
  name: toWords(tool.name),
  rest: toWords(`${tool.description} ${Object.keys(argumentsSchema(tool)['properties'] ?? {}).join(' ')}`),
}));

function weigh(tool: ToolDefinition, word: string): number {
  const { name, rest } = listWords(tool);
  if (name.some((one) => isSame(one, word))) return weightOfName;
  return rest.some((one) => isSame(one, word)) ? 1 : 0;
}

const shortestStem = 4;

/** Also in the plural, or as a part of a longer word. */
const isSame = (a: string, b: string): boolean =>
  a === b || (a.length >= shortestStem && b.startsWith(a)) || (b.length >= shortestStem && a.startsWith(b));

const toWords = (text: string): string[] =>
  text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];
