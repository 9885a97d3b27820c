import { Markdown } from '../markdown/markdown.tsx';
import { RunLink } from './run-origin.tsx';
import { useTimelineLinks } from './timeline-links.ts';

/** That a question was edited, and what it said before. */
export function FormerWords({ messageId }: { readonly messageId: string }) {
  const former = useTimelineLinks().former.get(messageId) ?? [];
  if (former.length === 0) return null;
  return (
    <details className="former">
      <summary>{former.length === 1 ? 'Edited' : `Edited ${former.length} times`}: what it said before</summary>
      {former.map(({ text, runId }, index) => (
        <div key={index}>
          <Markdown text={text} />
          {runId !== null && (
            <p className="hint">
              What followed is withdrawn from the conversation, and is in <RunLink id={runId} />.
            </p>
          )}
        </div>
      ))}
    </details>
  );
}
