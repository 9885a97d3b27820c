import type { ApprovalRule, RunSettings, SettingsRequest } from '@rondo/contract';
import { isMemoryStoreTool, memoryChanges } from '../tools/memory-store.tools';
import { usualLifetimeS } from './approval-choice';
import { type ToolChoice, listMemoryTools } from './tool-choice';

type Chosen = Pick<RunSettings, 'tools' | 'approvals'>;

/**
 * The tools of the memory stores that the request or its agent names, beside the others, and the approvals that their policies ask
 * for. Which stores these are is found out when the run is created.
 */
export function withMemory(
  { tools, approvals }: Chosen,
  { memory, agent }: SettingsRequest,
  layers: readonly ToolChoice[],
): { settings: Chosen; problems: { field: string; message: string }[] } {
  const stores = memory ?? agent?.memory ?? [];
  const others = tools.filter((name) => !isMemoryStoreTool(name));
  if (stores.length === 0)
    return {
      settings: { tools: others, ...(approvals && { approvals }) },
      problems: tools
        .filter(isMemoryStoreTool)
        .map((name) => ({ field: 'tools', message: `"${name}" needs a store, which \`memory\` names` })),
    };
  const mayChange = stores.some(({ policy }) => policy !== 'deny');
  const own = listMemoryTools(layers).map(({ name }) => name);
  const memoryTools = own.filter((name) => mayChange || !memoryChanges.includes(name));
  const storeRules = stores.flatMap(({ store, policy = 'ask' }) => (policy === 'ask' ? [{ store }] : []));
  const rules = storeRules.length === 0 ? approvals : withRules(approvals, storeRules);
  return { settings: { tools: [...others, ...memoryTools], ...(rules && { approvals: rules }) }, problems: [] };
}

/** What a layer asks for stays. It cannot take back what a policy asks for. */
function withRules(approvals: RunSettings['approvals'], storeRules: { store: string }[]): RunSettings['approvals'] {
  const { rules = {}, expires_s = usualLifetimeS } = approvals ?? {};
  const ruleByName = new Map<string, ApprovalRule>(Object.entries(rules));
  const changes = memoryChanges.map(
    (name) => [name, addTo(ruleByName.get(name) ?? ruleByName.get('memory'), storeRules)] as const,
  );
  return { rules: { ...rules, ...Object.fromEntries(changes) }, expires_s };
}

const addTo = (rule: ApprovalRule = false, storeRules: { store: string }[]): ApprovalRule =>
  rule === true ? true : [...(rule === false ? [] : rule), ...storeRules];
