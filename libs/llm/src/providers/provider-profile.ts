import { type ReasoningEffort, reasoningEffort } from '@rondo/contract';
import type { ModelTool, ProfileRules } from '@rondo/domain';
import { type ToolRules, listAcceptedTools } from './refused-tools';

/** What a server has otherwise than most. */
export interface ProviderProfile extends ProfileRules {
  /** The maker, as what it gives names it: two providers with the same one accept each other's. */
  readonly family: string;
  /** Names of providers, hosts of base URLs, and models that it is for. A provider may have any name. */
  readonly names: RegExp;
  readonly hosts?: RegExp;
  readonly models?: RegExp;
  /** Models of such a provider that it is not for. */
  readonly except?: RegExp;
  /** What a model has thought is counted only in the total of its reply, and charged as a part of it. */
  readonly thoughtsOnlyInTotal?: boolean;
  /** Why PDFs are not sent to it, for people. */
  readonly whyNoDocuments?: string;
}

export const usualMaxTools = 128;

/** The tools that a server takes. */
export const takeTools = (tools: readonly ModelTool[], rules: ProfileRules & ToolRules) =>
  listAcceptedTools(tools, rules).slice(0, rules.maxTools ?? usualMaxTools);

/** The names of those that it does not take: it refused them, or they are the last ones, which are those of outside servers. */
export function listOmittedTools(tools: readonly ModelTool[], rules: ProfileRules & ToolRules): string[] {
  const taken = new Set(takeTools(tools, rules));
  return tools.filter((tool) => !taken.has(tool)).map(({ name }) => name);
}

export const hasEffort = (effort: ReasoningEffort, { efforts = reasoningEffort.options }: ProfileRules): boolean =>
  efforts.includes(effort);

/** The effort itself, or the next weaker one that the server has, or else its weakest. */
export function nearestEffort(wanted: ReasoningEffort, { efforts = reasoningEffort.options }: ProfileRules) {
  const order = reasoningEffort.options;
  const weaker = efforts.filter((one) => order.indexOf(one) <= order.indexOf(wanted));
  return weaker.at(-1) ?? efforts[0] ?? wanted;
}
