import type { MessageRow, ToolCallRow } from '@rondo/client';
import { describeAction, summarizeActions } from '@rondo/react';
import { memo } from 'react';
import { MessageItem } from '../run/message-item.tsx';
import { useCallTime } from '../run/tool-call-item.tsx';
import { duration } from '../ui/amounts.ts';
import { timeTaken } from './time-taken.ts';
import { useChatPanel } from './use-chat-panel.ts';

interface WorkItemProps {
  readonly id: string;
  readonly rows: readonly (ToolCallRow | MessageRow)[];
  readonly shownCall: string | undefined;
  /** Whether the run may add to it. */
  readonly isNewest: boolean;
}

/** Calls that need no attention: one is a line, several are a line that opens. While they go on, the newest is seen as well. */
export function WorkItem({ id, rows, shownCall, isNewest }: WorkItemProps) {
  const { opened, toggle } = useChatPanel();
  const calls = rows.filter((row) => row.kind === 'tool_call');
  const [first] = rows;
  if (first && rows.length === 1) return <WorkRow row={first} shownCall={shownCall} />;
  const isOpen = opened.has(id);
  const time = timeTaken(calls);
  const newest = isNewest && !isOpen ? calls.at(-1) : undefined;
  return (
    <section className="work">
      <button className="work-head" aria-expanded={isOpen} onClick={() => toggle(id)}>
        <span className="work-sum">{calls.length === 0 ? 'Thoughts' : summarizeActions(calls)}</span>
        {calls.some(hasExitCode) && <span className="exit-code">with an exit code</span>}
        <span className="work-time">{time === null ? '' : duration(time)}</span>
      </button>
      {isOpen && (
        <ul aria-label="Steps">
          {rows.map((row) => (
            <li key={row.id}>
              <WorkRow row={row} shownCall={shownCall} />
            </li>
          ))}
        </ul>
      )}
      {newest && <ActionLine row={newest} isShown={newest.id === shownCall} />}
    </section>
  );
}

function WorkRow({
  row,
  shownCall,
}: {
  readonly row: ToolCallRow | MessageRow;
  readonly shownCall: string | undefined;
}) {
  return row.kind === 'message' ? <MessageItem row={row} /> : <ActionLine row={row} isShown={row.id === shownCall} />;
}

/** Whether a command ended with an error of its own: the call has succeeded all the same, since it has told the model so. */
const hasExitCode = ({ result }: ToolCallRow): boolean => (result?.exit_code ?? 0) !== 0;

interface ActionLineProps {
  readonly row: ToolCallRow;
  readonly isShown: boolean;
}

/** What a call did, to what, and how long that took. The panel shows the rest. */
export const ActionLine = memo(function ActionLine({ row, isShown }: ActionLineProps) {
  const { show } = useChatPanel();
  const { verb, object } = describeAction(row);
  const time = useCallTime({ row, sentAt: row.startedAt ?? undefined });
  return (
    <button
      className={`action ${row.status}`}
      aria-current={isShown ? 'true' : undefined}
      onClick={() => show({ call: row.id })}
    >
      <i aria-hidden="true" />
      <span className="action-verb">{verb}</span>
      <code className="action-object" dir="auto">
        {object}
      </code>
      {hasExitCode(row) && <span className="exit-code">exit code {row.result?.exit_code}</span>}
      <span className="action-time">{time}</span>
    </button>
  );
});
