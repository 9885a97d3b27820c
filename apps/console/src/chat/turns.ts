import type { Message, RunRow, ToolCallRow } from '@rondo/client';
import { type PlanItem, readPlan } from '../run/run-details.ts';
import { spokenText } from '../run/spoken-text.ts';
import { messageRows } from '../threads/message-rows.ts';

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

/** What the browser showed after a call. */
export interface Screen {
  readonly url: string;
  readonly title: string;
  /** The screenshot. Null where there is none. */
  readonly sha256: string | null;
}

/** A call that the panel can show, with what it led to. */
export interface Step {
  readonly row: ToolCallRow;
  readonly runId: string | null;
  readonly screen: Screen | null;
  /** The plan of the run as it was after the call. Empty: it had none yet. */
  readonly plan: readonly PlanItem[];
  /** Whether the call has changed the plan. */
  readonly isOfPlan: boolean;
}

/** The calls of the turns, in order, without those by which the agent speaks. */
export function toSteps(turns: readonly Turn[]): Step[] {
  return turns.flatMap(({ runId, rows }) => {
    const steps: Step[] = [];
    const places = new Map<string, number>();
    for (const row of rows) {
      if (row.kind === 'tool_call') {
        if (spokenText(row)) continue;
        places.set(row.id, steps.length);
        steps.push({ row, runId, screen: null, plan: steps.at(-1)?.plan ?? [], isOfPlan: false });
      } else if (row.kind === 'message' && row.message) addState(row.message, { steps, places });
    }
    return steps;
  });
}

function addState(message: Message, { steps, places }: { steps: Step[]; places: ReadonlyMap<string, number> }): void {
  const callId = message.metadata['tool_call_id'];
  const place = typeof callId === 'string' ? places.get(callId) : undefined;
  const step = place === undefined ? undefined : steps[place];
  if (place === undefined || !step) return;
  const plan = readPlan(message);
  if (plan) {
    const isPlan = (at: number) => at >= place;
    steps.forEach((one, at) => isPlan(at) && (steps[at] = { ...one, plan, isOfPlan: at === place || one.isOfPlan }));
  } else if (message.type === 'browser_state') steps[place] = { ...step, screen: readScreen(message) };
}

function readScreen({ content, metadata }: Message): Screen {
  const browser = metadata['browser'];
  const known = typeof browser === 'object' && browser !== null ? (browser as Record<string, unknown>) : {};
  const image = content.find((block) => block.type === 'image');
  return {
    url: typeof known['url'] === 'string' ? known['url'] : '',
    title: typeof known['title'] === 'string' ? known['title'] : '',
    sha256: image?.source.type === 'blob' ? image.source.sha256 : null,
  };
}
