import type { ToolCallRow } from '@rondo/client';
import { beginning, plainText } from './plain-text.ts';

/** How the panel shows what a call does. */
export type ActionView = 'terminal' | 'file' | 'page' | 'browser' | 'call';

interface ActionKind {
  /** What is said while it goes on, and afterwards: `Writing`, `Wrote`. */
  readonly words: readonly [doing: string, done: string];
  /** In the summary of several: `commands`. */
  readonly noun: readonly [one: string, several: string];
  readonly view: ActionView;
  /** The argument that is its object. Absent: the one that says most. */
  readonly object?: string;
}

const kind = (
  words: ActionKind['words'],
  noun: ActionKind['noun'],
  more: Partial<Pick<ActionKind, 'view' | 'object'>> = {},
): ActionKind => ({ words, noun, view: 'call', ...more });

const command = kind(['Running', 'Ran'], ['command', 'commands'], { view: 'terminal', object: 'command' });
const session = kind(['Looking at', 'Looked at'], ['terminal', 'terminals'], { view: 'terminal' });
const writes = kind(['Writing', 'Wrote'], ['file written', 'files written'], { view: 'file' });
const changes = kind(['Changing', 'Changed'], ['file changed', 'files changed'], { view: 'file' });
const reads = kind(['Reading', 'Read'], ['file read', 'files read'], { view: 'file' });
const deletes = kind(['Deleting', 'Deleted'], ['file deleted', 'files deleted'], { view: 'call' });
const lists = kind(['Looking through', 'Looked through'], ['look at files', 'looks at files'], { view: 'terminal' });
const visits = kind(['Reading', 'Read'], ['page read', 'pages read'], { view: 'page' });
const searches = kind(['Searching for', 'Searched for'], ['search', 'searches'], { view: 'page', object: 'query' });
const browses = kind(['Using the browser', 'Used the browser'], ['browser step', 'browser steps'], { view: 'browser' });
const opens = kind(['Opening', 'Opened'], ['page opened', 'pages opened'], { view: 'browser', object: 'url' });
const thinks = kind(['Thinking about', 'Thought about'], ['thought', 'thoughts'], { object: 'thought' });
const remembers = kind(['Looking into', 'Looked into'], ['look into its memory', 'looks into its memory']);
const publishes = kind(['Publishing', 'Published'], ['site published', 'sites published']);
const uses = kind(['Using', 'Used'], ['other step', 'other steps']);

const kinds: Readonly<Record<string, ActionKind>> = {
  execute_command: command,
  shell_exec: command,
  bash: command,
  check_command_output: session,
  terminate_command: session,
  list_commands: session,
  shell_view: session,
  shell_wait: session,
  shell_kill_process: session,
  shell_write_to_process: session,
  create_file: writes,
  write_file: writes,
  writeFile: writes,
  writeCode: writes,
  createPlan: writes,
  full_file_rewrite: writes,
  str_replace: changes,
  str_replace_editor: changes,
  read_file: reads,
  readFile: reads,
  text_extract: reads,
  pdf_text_extract: reads,
  get_text_from_local_file: reads,
  parseDocument: reads,
  delete_file: deletes,
  list_files: lists,
  search_files: lists,
  create_directory: lists,
  see_image: kind(['Looking at', 'Looked at'], ['picture seen', 'pictures seen']),
  load_image: kind(['Looking at', 'Looked at'], ['picture seen', 'pictures seen']),
  display_image: kind(['Looking at', 'Looked at'], ['picture seen', 'pictures seen']),
  web_search: searches,
  webSearch: searches,
  visit_webpage: visits,
  scrape_webpage: visits,
  http_request: kind(['Requesting', 'Requested'], ['request', 'requests'], { view: 'page', object: 'url' }),
  browser_navigate_to: opens,
  browser_navigation: opens,
  browser_restart: opens,
  deploy: publishes,
  static_deploy: publishes,
  expose_port: publishes,
  register_deployment: publishes,
  sequential_thinking: thinks,
  ponder: thinks,
  expand_message: remembers,
  simple_memory: remembers,
  compactify_memory: remembers,
  run_agent: kind(['Asking', 'Asked'], ['agent asked', 'agents asked'], { object: 'agent' }),
};

const findKind = (name: string): ActionKind => {
  const known = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  return known ?? (name.startsWith('browser_') ? browses : uses);
};

export const findView = ({ name }: Pick<ToolCallRow, 'name'>): ActionView => findKind(name).view;

/** A call in words: `Ran`, `npm test`. */
export interface Action {
  readonly verb: string;
  readonly object: string;
}

type DescribedCall = Pick<ToolCallRow, 'name' | 'status' | 'arguments' | 'argumentsText'> &
  Partial<Pick<ToolCallRow, 'approval'>>;

export function describeAction(call: DescribedCall): Action {
  const found = findKind(call.name);
  const verb = toVerb(call, found.words);
  if (found === uses) return { verb, object: plainText(call.name).replace('__', ': ') };
  if (found === browses) return { verb, object: call.name.slice('browser_'.length).replaceAll('_', ' ') };
  const given = found.object === undefined ? undefined : call.arguments?.[found.object];
  const object = typeof given === 'string' ? { text: given } : (call.arguments ?? {});
  const line = call.arguments ? describeArguments({ arguments: object, argumentsText: '' }) : '';
  return { verb, object: found.view === 'file' ? line.replace(/^\/workspace\//, '') : line };
}

function toVerb({ status, approval }: DescribedCall, [doing, done]: ActionKind['words']): string {
  if (status === 'planned' && approval?.decision === null) return `Waits for approval: ${doing.toLowerCase()}`;
  if (status === 'completed') return done;
  if (status === 'failed') return `Failed: ${doing.toLowerCase()}`;
  return status === 'unknown' ? `Outcome unknown: ${doing.toLowerCase()}` : doing;
}

/** What several calls were, the most frequent first: `5 commands, 2 files written`. */
export function summarizeActions(calls: readonly Pick<ToolCallRow, 'name'>[]): string {
  const counts = new Map<ActionKind['noun'], number>();
  for (const { name } of calls) {
    const { noun } = findKind(name);
    counts.set(noun, (counts.get(noun) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([[one, several], number]) => `${number} ${number === 1 ? one : several}`)
    .join(', ');
}

const telling = ['command', 'file_path', 'path', 'url', 'query', 'queries', 'question', 'text'];
const longest = 160;

/** The argument that says most, in one line. */
export function describeArguments({
  arguments: known,
  argumentsText,
}: Pick<ToolCallRow, 'arguments' | 'argumentsText'>): string {
  if (!known) return toLine(argumentsText.slice(-longest));
  const name = telling.find((candidate) => candidate in known) ?? Object.keys(known)[0];
  if (name === undefined) return '';
  const value = known[name];
  return toLine(typeof value === 'string' ? value : JSON.stringify(value));
}

function toLine(text: string): string {
  const line = plainText(text.slice(0, 4 * longest))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > longest ? `${beginning(line, longest)}…` : line;
}
