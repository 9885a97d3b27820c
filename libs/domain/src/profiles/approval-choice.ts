import type { ApprovalRule, ApprovalSettings, SettingsRequest } from '@rondo/contract';

type Layer = Pick<SettingsRequest, 'tools' | 'approval_expires_s'>;

const usualLifetimeS = 86_400;

/** The rules of all layers; a later one wins for the same tool or group. Undefined where no call needs approval. */
export function approvalsOf(...layers: readonly Layer[]): ApprovalSettings | undefined {
  const rules = Object.fromEntries(layers.flatMap(rulesOf));
  if (Object.values(rules).every((rule) => rule === false)) return undefined;
  const expires_s = layers.map((layer) => layer.approval_expires_s).findLast((given) => given !== undefined);
  return { rules, expires_s: expires_s ?? usualLifetimeS };
}

function rulesOf({ tools }: Layer): [string, ApprovalRule][] {
  if (tools === undefined || Array.isArray(tools)) return [];
  return Object.entries(tools).flatMap(([name, change]): [string, ApprovalRule][] => {
    const rule = typeof change === 'boolean' ? undefined : change.require_approval;
    return rule === undefined ? [] : [[name, rule]];
  });
}
