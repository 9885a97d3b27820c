import type { RunRow } from '@rondo/client';
import { isPlan } from '@rondo/react';

export type TimelineItem =
  | { readonly kind: 'row'; readonly key: string; readonly row: RunRow }
  | { readonly kind: 'iteration'; readonly key: string; readonly number: number };

/** The rows, with a line where an iteration begins. State messages are shown elsewhere: as the plan, as the screen, and with a call's result. */
export function timelineItems(rows: readonly RunRow[], { hasIterations = true } = {}): TimelineItem[] {
  const items: TimelineItem[] = [];
  let iteration = 0;
  for (const row of rows) {
    if (row.kind === 'message' && (row.role === 'browser_state' || row.role === 'image_context' || isPlan(row)))
      continue;
    if (hasIterations && row.iteration > iteration) {
      iteration = row.iteration;
      items.push({ kind: 'iteration', key: `iteration ${iteration}`, number: iteration });
    }
    items.push({ kind: 'row', key: row.id, row });
  }
  return items;
}
