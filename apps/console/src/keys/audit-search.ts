import type { AuditEntry } from '@rondo/client';

export const auditFilters = ['action', 'by', 'target', 'outcome', 'from', 'before'] as const;
const outcomes: readonly AuditEntry['outcome'][] = ['done', 'refused', 'unknown'];

/** What the log shows, as the address has it. `by` is the id of a key or user; the times are those of the browser's zone. */
export interface AuditSearch extends Partial<
  Readonly<Record<Exclude<(typeof auditFilters)[number], 'outcome'>, string>>
> {
  readonly outcome?: AuditEntry['outcome'];
}

export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const given = auditFilters.flatMap((name) => {
    const value = search[name];
    return typeof value === 'string' && isMeant(name, value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}

function isMeant(name: (typeof auditFilters)[number], value: string): boolean {
  if (value === '') return false;
  if (name === 'outcome') return outcomes.some((outcome) => outcome === value);
  return (name !== 'from' && name !== 'before') || !Number.isNaN(Date.parse(value));
}

/** The filters of `GET /v1/audit`. */
export const toAuditQuery = ({ action, by, target, outcome, from, before }: AuditSearch) => ({
  ...(action !== undefined && { action }),
  ...(by !== undefined && { caller_id: by }),
  ...(target !== undefined && { target }),
  ...(outcome !== undefined && { outcome }),
  ...(from !== undefined && { created_from: new Date(from).toISOString() }),
  ...(before !== undefined && { created_before: new Date(before).toISOString() }),
});
