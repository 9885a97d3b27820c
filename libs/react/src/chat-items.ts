import type { MessageRow, NoteRow, Run, RunRow, ToolCallRow } from '@rondo/client';
import type { Turn } from './message-rows.ts';
import { type SpokenText, spokenText } from './spoken-text.ts';

/** A run as far as its ending is concerned. */
export type EndedRun = Pick<Run, 'id' | 'status' | 'finish_reason' | 'error'>;

/** What a conversation shows, one below the other. */
export type ChatItem =
  | { readonly kind: 'message'; readonly key: string; readonly row: MessageRow }
  | { readonly kind: 'speech'; readonly key: string; readonly row: ToolCallRow; readonly spoken: SpokenText }
  | { readonly kind: 'link'; readonly key: string; readonly row: ToolCallRow; readonly link: PublishedLink }
  /** Calls that need no attention, and thoughts between them. */
  | { readonly kind: 'work'; readonly key: string; readonly rows: readonly (ToolCallRow | MessageRow)[] }
  /** A call that failed, whose outcome is unknown, or about which a person decides or has decided. */
  | { readonly kind: 'call'; readonly key: string; readonly row: ToolCallRow }
  | { readonly kind: 'note'; readonly key: string; readonly row: NoteRow }
  | { readonly kind: 'ending'; readonly key: string; readonly run: EndedRun };

/** Something that a call has made reachable. */
export interface PublishedLink {
  readonly url: string;
  /** The name of a site, or the port of a server. */
  readonly name: string;
}

/** The items of these turns. `endings` has the runs that did not complete, which are said at their ends. */
export function toChatItems(turns: readonly Turn[], endings: ReadonlyMap<string, EndedRun> = new Map()): ChatItem[] {
  return turns.flatMap(({ runId, rows }) => {
    const items = toItems(rows);
    const run = runId === null ? undefined : endings.get(runId);
    return run ? [...items, { kind: 'ending', key: `end of ${run.id}`, run } as const] : items;
  });
}

function toItems(rows: readonly RunRow[]): ChatItem[] {
  const items: ChatItem[] = [];
  let work: (ToolCallRow | MessageRow)[] = [];
  const endWork = () => {
    const [first] = work;
    if (first) items.push({ kind: 'work', key: `work ${first.id}`, rows: work });
    work = [];
  };
  for (const row of rows) {
    if (row.kind === 'message' && isOutOfSight(row)) continue;
    if (isQuiet(row)) {
      work.push(row);
      continue;
    }
    endWork();
    items.push(toItem(row));
  }
  endWork();
  return items;
}

/** State is shown as the screen and as the plan, and a reply of calls alone by those calls. */
const isOutOfSight = (row: MessageRow): boolean =>
  row.role === 'browser_state' || isPlan(row) || (isWordless(row) && row.reasoning === '');

/** A reply that has ended and says nothing. */
const isWordless = (row: MessageRow): boolean =>
  row.role === 'assistant' && row.text === '' && !row.isOpen && hasNoPicture(row);

/** Thoughts and calls are grouped; what is said, what failed and what a person decides about is not. */
function isQuiet(row: RunRow): row is ToolCallRow | MessageRow {
  if (row.kind === 'note') return false;
  if (row.kind === 'message') return isWordless(row);
  const isFine = row.status !== 'failed' && row.status !== 'unknown' && row.result?.success !== false;
  return isFine && row.approval === null && spokenText(row) === undefined && findLink(row) === undefined;
}

const hasNoPicture = ({ message }: MessageRow): boolean =>
  message?.content.every(({ type }) => type !== 'image') !== false;

function toItem(row: RunRow): ChatItem {
  const { id: key } = row;
  if (row.kind === 'note') return { kind: 'note', key, row };
  if (row.kind === 'message') return { kind: 'message', key, row };
  const spoken = row.status === 'failed' ? undefined : spokenText(row);
  if (spoken && row.approval === null) return { kind: 'speech', key, row, spoken };
  const link = findLink(row);
  return link ? { kind: 'link', key, row, link } : { kind: 'call', key, row };
}

const publishing: readonly string[] = ['deploy', 'static_deploy', 'expose_port', 'register_deployment'];

/** What the result of a call that publishes something says about it. */
function findLink({ name, result }: ToolCallRow): PublishedLink | undefined {
  if (!publishing.includes(name) || result?.success !== true) return undefined;
  const said = readObject(result.output);
  const { url, name: site, port } = said;
  if (typeof url !== 'string') return undefined;
  if (typeof site === 'string') return { url, name: site };
  return { url, name: typeof port === 'number' ? `Port ${port}` : 'Site' };
}

function readObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** What a call of `complete` offers to ask next. */
export function readFollowUps({ arguments: given }: Pick<ToolCallRow, 'arguments'>): readonly string[] {
  const prompts = given?.['follow_up_prompts'];
  return Array.isArray(prompts) ? prompts.filter((one): one is string => typeof one === 'string' && one !== '') : [];
}

/** Whether the row says how far the plan is. */
export const isPlan = (row: Extract<RunRow, { kind: 'message' }>): boolean =>
  row.message?.metadata['kind'] === 'plan_updated';
