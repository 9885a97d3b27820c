import type {
  AccountSettings,
  ApprovalRule,
  ApprovalSettings,
  RunSettings,
  SettingsRequest,
  ToolChanges,
} from '@rondo/contract';
import { findRuleName } from '../tools/approval-rules';
import type { ToolDefinition } from '../tools/define-tool';
import type { ToolSet } from '../tools/tool-set';

type Layer = Pick<SettingsRequest, 'tools' | 'approval_expires_s'>;
type Options = Exclude<ToolChanges[string], boolean>;

export const usualLifetimeS = 86_400;

/**
 * The rules of all layers; a later one wins for the same tool or group. Undefined where no call needs approval and no time is named,
 * which questions of MCP servers have, too.
 */
export function findApprovals(...layers: readonly Layer[]): ApprovalSettings | undefined {
  const rules = Object.fromEntries(layers.flatMap(listRules));
  const expires_s = layers.map((layer) => layer.approval_expires_s).findLast((given) => given !== undefined);
  if (expires_s === undefined && Object.values(rules).every((rule) => rule === false)) return undefined;
  return { rules, expires_s: expires_s ?? usualLifetimeS };
}

const listRules = (layer: Layer): [string, ApprovalRule][] =>
  optionsIn(layer).flatMap(([name, { require_approval: rule }]) => (rule === undefined ? [] : [[name, rule]]));

const optionsIn = ({ tools }: Layer): [string, Options][] =>
  tools === undefined || Array.isArray(tools)
    ? []
    : Object.entries(tools).flatMap(([name, change]) => (typeof change === 'boolean' ? [] : [[name, change]]));

/**
 * Rules that leave a tool free which can do what the ruled one can: a model would take the other way. A rule with `only` is
 * meant so.
 */
export function approvalProblems(
  { tools, agent, account }: Pick<SettingsRequest, 'tools' | 'agent'> & { account?: AccountSettings | undefined },
  settings: Pick<RunSettings, 'tools' | 'approvals'>,
  known: Pick<ToolSet, 'named'>,
): { field: string; message: string }[] {
  const rules = new Map(Object.entries(settings.approvals?.rules ?? {}).filter(([, rule]) => rule !== false));
  if (rules.size === 0) return [];
  const parts = Object.entries({ tools, 'agent.tools': agent?.tools, 'account.tools': account?.tools }).map(
    ([part, given]) => ({ part, options: new Map(optionsIn({ tools: given })) }),
  );
  const isMeant = (name: string) =>
    parts.map(({ options }) => options.get(name)?.only).find((only) => only !== undefined) === true;
  const offered = settings.tools.flatMap((name) => known.named(name) ?? []);
  const findRule = (tool: ToolDefinition) => findRuleName(allRules(settings), tool.name, tool);
  const free = offered.filter((tool) => !rules.has(findRule(tool) ?? ''));

  return [...rules.keys()].flatMap((name) => {
    const ruled = offered.filter((tool) => findRule(tool) === name);
    const ways = free.filter((tool) => ruled.some((one) => canDoTheSame(tool, one))).map((tool) => tool.name);
    if (ways.length === 0 || isMeant(name)) return [];
    const part = parts.find(({ options }) => options.get(name)?.require_approval !== undefined)?.part;
    return [{ field: `${part}.${name}.require_approval`, message: leavesFree(ways) }];
  });
}

/** The rules with those that are false: `false` for a tool frees it from the rule of its group. */
const allRules = ({ approvals }: Pick<RunSettings, 'approvals'>): ReadonlyMap<string, ApprovalRule> =>
  new Map(Object.entries(approvals?.rules ?? {}));

const canDoTheSame = ({ powers = [] }: ToolDefinition, { powers: needed = [] }: ToolDefinition): boolean =>
  needed.length > 0 && needed.every((power) => powers.includes(power));

const leavesFree = (names: readonly string[]): string =>
  `leaves free what can do the same: ${names.join(', ')}. Require approval for them, too, switch them off, or add "only": true`;
