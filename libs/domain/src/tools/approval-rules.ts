import type { ApprovalRule, RunSettings, ToolCall } from '@rondo/contract';
import type { ToolDefinition } from './define-tool';
import { targetArguments } from './tool-alias';
import type { ToolSet } from './tool-set';

/** Which rule holds for a tool: its own name wins over that of the tool it stands for, and that one over its group. */
export const findRuleName = (
  rules: ReadonlyMap<string, ApprovalRule>,
  name: string,
  tool: ToolDefinition | undefined,
) => [name, ...(tool?.alias ? [tool.alias.of] : []), ...(tool ? [tool.group] : [])].find((one) => rules.has(one));

interface RuledRun {
  readonly settings: Pick<RunSettings, 'approvals'>;
  readonly tools: Pick<ToolSet, 'named'>;
}

type Called = Pick<ToolCall, 'name' | 'arguments'>;

/** Whether a person must approve a call before it is sent. The rules of a tool apply to its other names, too. */
export function requiresApproval({ settings: { approvals }, tools }: RuledRun, call: Called): boolean {
  if (!approvals) return false;
  const tool = tools.named(call.name);
  const rules = new Map(Object.entries(approvals.rules));
  const rule = rules.get(findRuleName(rules, call.name, tool) ?? '');
  return rule !== undefined && applies(rule, call.arguments, tool);
}

/** A pattern may use the names of the alias's parameters or of the target's. */
function applies(rule: ApprovalRule, given: ToolCall['arguments'], tool: ToolDefinition | undefined): boolean {
  if (typeof rule === 'boolean') return rule;
  const theirs = tool?.alias ? targetArguments(tool.alias, given) : given;
  const values = new Map(Object.entries({ ...given, ...theirs }));
  return rule.some((pattern) =>
    Object.entries(pattern).every(([name, glob]) => values.has(name) && matches(toText(values.get(name)), glob)),
  );
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Linear in the length of the text for each part of the pattern, whatever a model writes. */
function matches(text: string, glob: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return text === glob;
  if (!text.startsWith(first) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
