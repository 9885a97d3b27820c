import type { ListRuns, Run } from '@rondo/client';

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
export const readShown = ({ shown }: Record<string, unknown>): { readonly shown?: number } =>
  typeof shown === 'number' && shown > 0 ? { shown: Math.min(Math.floor(shown), mostShown) } : {};

/** A text that looks like a number is one in the address. */
export const readText = (value: unknown): string =>
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
