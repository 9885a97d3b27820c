import type { Message, ToolCallRow } from '@rondo/client';
import { type Turn, spokenText } from '@rondo/react';
import { type PlanItem, readPlan } from '../run/run-details.ts';

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
