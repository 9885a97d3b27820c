import { type Message, type RunRow, type ToolCallRow } from '@rondo/client';

type Block = Message['content'][number];

/** The texts of an input are paragraphs; those of a reply go on from each other. */
const toText = ({ type, content }: Message, kind: 'text' | 'reasoning'): string =>
  content.flatMap((block) => (block.type === kind ? block.text : [])).join(type === 'user' ? '\n\n' : '');

/** Stored messages as rows of a conversation: calls have their results, as they have in the log of a run. */
export function messageRows(messages: readonly Message[]): RunRow[] {
  const rows: RunRow[] = [];
  const places = new Map<string, number>();
  for (const message of messages) {
    if (message.type === 'tool') {
      for (const block of message.content) answer(block, { rows, places });
      continue;
    }
    const [text, reasoning] = [toText(message, 'text'), toText(message, 'reasoning')];
    const calls = message.content.flatMap((block) => (block.type === 'tool_call' ? callRow(block) : []));
    if (text !== '' || reasoning !== '' || calls.length === 0) {
      const { id, type: role } = message;
      rows.push({ kind: 'message', id, iteration: 0, role, text, reasoning, isOpen: false, message });
    }
    for (const row of calls) {
      places.set(row.id, rows.length);
      rows.push(row);
    }
  }
  return rows;
}

const callRow = (call: Extract<Block, { type: 'tool_call' }>): ToolCallRow => ({
  kind: 'tool_call',
  id: call.tool_call_id,
  iteration: 0,
  name: call.name,
  programCallId: null,
  status: 'planned',
  argumentsText: JSON.stringify(call.arguments),
  arguments: call.arguments,
  replacedArguments: null,
  approval: null,
  startedAt: null,
  attempt: 1,
  output: '',
  result: null,
  durationMs: null,
  reason: null,
});

function answer(block: Block, { rows, places }: { rows: RunRow[]; places: ReadonlyMap<string, number> }): void {
  if (block.type !== 'tool_result') return;
  const place = places.get(block.tool_call_id);
  const row = place === undefined ? undefined : rows[place];
  if (place === undefined || row?.kind !== 'tool_call') return;
  const { result } = block;
  rows[place] = { ...row, status: result.success ? 'completed' : 'failed', result, output: result.output };
}

/** Consecutive rows of one run, or of none: what a person added to the thread. */
export interface Turn {
  readonly runId: string | null;
  readonly rows: readonly RunRow[];
}

/** The stored messages of a thread, by the runs that they belong to. */
export function toTurns(messages: readonly Message[]): Turn[] {
  const groups: { readonly runId: string | null; readonly messages: Message[] }[] = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (last?.runId === message.run_id) last.messages.push(message);
    else groups.push({ runId: message.run_id, messages: [message] });
  }
  return groups.map(({ runId, messages: own }) => ({ runId, rows: messageRows(own) }));
}
