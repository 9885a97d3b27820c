import type { RunSettings } from '@rondo/contract';
import { type ResolveBudget, toInputBudget } from '../models/model-budgets';
import { type ToolDefinition, shownSchema } from './define-tool';

/** What requests have for the definitions of tools: how many a provider takes, and for how many tokens those of servers may be. */
export interface ToolSpace {
  readonly tools: number;
  readonly tokens: number;
}

export const usualToolSpace: ToolSpace = { tools: 128, tokens: 10_000 };

/** What definitions of servers' tools may take of what fits into a request. */
const share = 1 / 10;

/** The space for tools in a run, which is that of the smallest of its models. */
export function readToolSpace(
  settings: Pick<RunSettings, 'model' | 'fallbacks' | 'context'>,
  { maxTools, inputBudget }: { readonly maxTools: (model: string) => number; readonly inputBudget: ResolveBudget },
): ToolSpace {
  const others = (settings.fallbacks ?? []).map(({ model }) => model);
  const tokens = Math.min(toInputBudget(settings, inputBudget), ...others.map(inputBudget));
  return {
    tools: Math.min(...[settings.model, ...others].map(maxTools)),
    tokens: Math.max(1, Math.floor(tokens * share)),
  };
}

/** The tools of servers that a model finds with `tool_search`. */
export interface ToolSearch {
  readonly tools: readonly ToolDefinition[];
  /** The space for the tools that it has found or called. */
  readonly capacity: ToolSpace;
}

/** About as many as tokenizers count, and the same in every version of a worker. */
const charactersPerToken = 4;

const countTokens = (tool: ToolDefinition): number =>
  (tool.name.length + tool.description.length + JSON.stringify(shownSchema(tool)).length) / charactersPerToken;

export const doFit = (tools: readonly ToolDefinition[], space: ToolSpace): boolean =>
  tools.length <= space.tools && tools.reduce((sum, tool) => sum + countTokens(tool), 0) <= space.tokens;

/** Which servers have tools to find, for the description of `tool_search`. */
export function listServers(tools: readonly ToolDefinition[]): string {
  const counts = new Map<string, number>();
  for (const { source } of tools)
    if (source?.kind === 'mcp') counts.set(source.server, (counts.get(source.server) ?? 0) + 1);
  return [...counts].map(([server, count]) => `${server} (${count})`).join(', ');
}
