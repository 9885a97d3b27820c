import type { ListRuns, Run, WebhookDeliveryStatus, AgentSort, AuditEntry } from '@rondo/client';
import { type TaskGroup, taskGroups } from './evaluations/tasks.ts';
import type { Measure } from './usage/usage-days.ts';

const statuses: readonly Run['status'][] = [
  'queued',
  'running',
  'stopping',
  'waiting_input',
  'waiting_budget',
  'waiting_child',
  'waiting_tool',
  'completed',
  'failed',
  'stopped',
];

const mostShown = 5_000;

const texts = [
  'thread',
  'text',
  'agent',
  'project',
  'user',
  'model',
  'reason',
  'key',
  'value',
  'from',
  'before',
] as const;
const times: readonly string[] = ['from', 'before'];
type TextFilter = (typeof texts)[number];

/** What the list shows, as the address has it: a link shows the same. */
export interface RunsSearch extends Partial<Readonly<Record<TextFilter, string>>> {
  readonly status?: Run['status'];
  /** How many rows, if more than the first page: the way back shows as many. */
  readonly shown?: number;
}

/** Of a list that shows more on demand. */
const readShown = ({ shown }: Record<string, unknown>): { readonly shown?: number } =>
  typeof shown === 'number' && shown > 0 ? { shown: Math.min(Math.floor(shown), mostShown) } : {};

/** A text that looks like a number is one in the address. */
const readText = (value: unknown): string =>
  typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';

export function readRunsSearch(search: Record<string, unknown>): RunsSearch {
  const known = statuses.find((candidate) => candidate === search['status']);
  const given = texts
    .map((name) => [name, readText(search[name])] as const)
    .filter(([name, text]) => text !== '' && (!times.includes(name) || !Number.isNaN(Date.parse(text))));
  return { ...(known && { status: known }), ...Object.fromEntries(given), ...readShown(search) };
}

/** The filters of `GET /v1/runs`. Metadata is one of them only with its name and its value. */
export function toRunQuery({ status, ...search }: RunsSearch): ListRuns {
  const { key, value, from, before } = search;
  const filters = {
    status,
    thread_id: search.thread,
    q: search.text,
    agent_id: search.agent,
    project_id: search.project,
    user: search.user,
    model: search.model,
    finish_reason: search.reason,
    metadata_key: value === undefined ? undefined : key,
    metadata_value: key === undefined ? undefined : value,
    created_from: from === undefined ? undefined : new Date(from).toISOString(),
    created_before: before === undefined ? undefined : new Date(before).toISOString(),
  };
  return Object.fromEntries(Object.entries(filters).filter(([, filter]) => filter !== undefined));
}

/** Whether not all runs are meant. */
export const isFiltered = (search: RunsSearch): boolean => Object.keys(search).some((name) => name !== 'shown');

/** What the list shows, as the address has it: a link shows the same. */
export interface ThreadsSearch {
  /** Words of the title, or of what was asked. */
  readonly text?: string;
  /** The id of a project. */
  readonly project?: string;
  readonly user?: string;
  readonly shown?: number;
}

export function readThreadsSearch(search: Record<string, unknown>): ThreadsSearch {
  const given = (['text', 'project', 'user'] as const).flatMap((name) => {
    const text = readText(search[name]);
    return text === '' ? [] : [[name, text] as const];
  });
  return { ...Object.fromEntries(given), ...readShown(search) };
}

/** The two runs. */
export interface CompareSearch {
  readonly a?: string;
  readonly b?: string;
}

const runId = /^run_[0-9A-Z]+$/;

export function readCompareSearch({ a, b }: Record<string, unknown>): CompareSearch {
  return {
    ...(typeof a === 'string' && runId.test(a) && { a }),
    ...(typeof b === 'string' && runId.test(b) && { b }),
  };
}

export const deliveryStatuses: readonly WebhookDeliveryStatus[] = ['pending', 'delivered', 'dead'];

/** Which deliveries are shown, as the address has it. */
interface DeliverySearch {
  readonly status?: WebhookDeliveryStatus;
}

export function readDeliverySearch({ status }: Record<string, unknown>): DeliverySearch {
  const known = deliveryStatuses.find((candidate) => candidate === status);
  return known ? { status: known } : {};
}

export const agentSorts: readonly (readonly [AgentSort, string])[] = [
  ['created_at', 'newest first'],
  ['updated_at', 'last changed first'],
  ['name', 'by name'],
];

/** What the list shows, as the address has it: a link shows the same. */
export interface AgentsSearch {
  readonly tag?: string;
  readonly sort?: AgentSort;
}

export function readAgentsSearch({ tag, sort }: Record<string, unknown>): AgentsSearch {
  const known = agentSorts.find(([candidate]) => candidate === sort)?.[0];
  return {
    ...(typeof tag === 'string' && tag !== '' && { tag }),
    ...(known && known !== 'created_at' && { sort: known }),
  };
}

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

/** The evaluation that it is compared with, and which tasks are shown. */
export const readEvaluationSearch = ({
  other,
  show,
}: Record<string, unknown>): { other?: string; show?: TaskGroup } => ({
  ...(typeof other === 'string' && other !== '' && { other }),
  ...(isGroup(show) && { show }),
});

const isGroup = (value: unknown): value is TaskGroup => taskGroups.some((group) => group === value);

/** The user whose stores are shown; absent: all stores. */
export function readMemorySearch({ user }: Record<string, unknown>): { user?: string } {
  const given = readText(user);
  return given === '' ? {} : { user: given };
}

/** What is shown of a store, as the address has it: a link shows the same. */
interface StoreSearch {
  /** Of an entry. */
  readonly path?: string;
  /** Of that entry; absent: the newest. */
  readonly version?: number;
  /** What the listed entries have; absent: all are listed. */
  readonly words?: string;
}

export function readStoreSearch({ version, ...search }: Record<string, unknown>): StoreSearch {
  const given = (['path', 'words'] as const).flatMap((name) => {
    const text = readText(search[name]);
    return text === '' ? [] : [[name, text] as const];
  });
  return {
    ...Object.fromEntries(given),
    ...(typeof version === 'number' && version >= 1 && { version: Math.floor(version) }),
  };
}

/** The file that is shown. */
export const readSandboxSearch = ({ path }: Record<string, unknown>): { path?: string } =>
  typeof path === 'string' && path !== '' ? { path } : {};

/** The version that is shown, without one the newest, and the file of it. */
export const readSkillSearch = ({ version, path }: Record<string, unknown>): { version?: number; path?: string } => ({
  ...(typeof version === 'number' && version > 0 && { version: Math.floor(version) }),
  ...(typeof path === 'string' && path !== '' && { path }),
});

export const ranges = [7, 30, 90] as const;

export interface UsageSearch {
  readonly days?: (typeof ranges)[number];
  readonly measure?: Measure;
}

const measures: readonly Measure[] = ['cost', 'tokens', 'calls'];

/** What the page shows, as the address has it. */
export function readUsageSearch({ days, measure }: Record<string, unknown>): UsageSearch {
  const range = ranges.find((candidate) => candidate === days);
  const known = measures.find((candidate) => candidate === measure);
  return { ...(range && { days: range }), ...(known && { measure: known }) };
}
