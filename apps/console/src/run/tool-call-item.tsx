import type { CallApproval, ToolCallRow } from '@rondo/client';
import { decisions, type SpokenText, colouredText, describeArguments, plainText, spokenText } from '@rondo/react';
import { memo, useState } from 'react';
import { useKeyNames } from '../keys/key-names.ts';
import { FileCards } from './file-cards.tsx';
import { between, duration, moment } from '../ui/amounts.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { AnsiText } from '../ui/ansi-text.tsx';
import { useNow } from '../ui/use-now.ts';
import { BlobImage } from './blob-image.tsx';
import { Link } from '@tanstack/react-router';
import { Status } from '../ui/status.tsx';
import { useTimelineLinks } from './timeline-links.ts';
import { useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';
import { sandboxOfThread } from './thread-sandbox.ts';

const shownLines = 14;

const words: Record<ToolCallRow['status'], string> = {
  drafting: 'is being written',
  planned: 'planned',
  dispatched: 'runs',
  completed: 'done',
  failed: 'failed',
  unknown: 'outcome unknown',
};

interface ToolCallItemProps {
  readonly row: ToolCallRow;
  readonly sentAt: string | undefined;
}

/** A call: what it was told, and what it prints while it runs. */
export const ToolCallItem = memo(function ToolCallItem({ row, sentAt }: ToolCallItemProps) {
  const [isWhole, setWhole] = useState(false);
  const { name, status, result, reason, programCallId } = row;
  const spoken = spokenText(row);
  const time = useCallTime({ row, sentAt });
  return (
    <article
      className={`call ${status} ${spoken ? 'speaks' : ''} ${programCallId === null ? '' : 'of-program'}`}
      aria-label={`${name}, ${words[status]}`}
    >
      <header>
        <i aria-hidden="true" />
        <code className="call-name">{name}</code>
        <code className="call-gist" dir="auto">
          {spoken ? '' : describeArguments(row)}
        </code>
        <span className="call-state">
          {status === 'planned' && row.approval?.decision === null ? 'waits for approval' : words[status]}
          {row.attempt > 1 && `, attempt ${row.attempt}`}
          {time !== '' && ` · ${time}`}
        </span>
      </header>
      {name === 'run_agent' && <ChildLink callId={row.id} />}
      {spoken && <SpokenAnswer spoken={spoken} />}
      {(!spoken || isWhole) && <Output output={row.output} isWhole={isWhole} isLive={status === 'dispatched'} />}
      {row.approval?.decision && <Decision approval={row.approval} isEdited={row.replacedArguments !== null} />}
      {result?.error !== undefined && (
        <p className="problem" dir="auto">
          {result.error}
        </p>
      )}
      {reason !== null && (
        <p className="problem" dir="auto">
          {reason}
        </p>
      )}
      {result?.image && <BlobImage sha256={result.image.sha256} alt={`Result of ${name}`} />}
      <Whole row={row} isOpen={isWhole} toggle={() => setWhole(!isWhole)} />
    </article>
  );
});

interface DecisionProps {
  readonly approval: CallApproval;
  readonly isEdited: boolean;
}

/** Who decided about the call, when and why. */
function Decision({ approval: { decision }, isEdited }: DecisionProps) {
  const names = useKeyNames();
  if (!decision) return null;
  const { outcome, decidedBy, decidedAt, reason } = decision;
  return (
    <p className="hint">
      {decisions[isEdited ? 'edit' : outcome]}
      {decidedBy !== null && (
        <>
          {decidedBy.startsWith('key_') ? ' with the key ' : ' by '}
          {names.get(decidedBy) ?? <code>{decidedBy}</code>}
        </>
      )}
      , <time dateTime={decidedAt}>{moment(decidedAt)}</time>
      {reason === null ? '.' : `: ${plainText(reason)}`}
    </p>
  );
}

function SpokenAnswer({ spoken: { text, attachments } }: { readonly spoken: SpokenText }) {
  return (
    <>
      <Markdown text={text} />
      <FileCards paths={attachments} />
    </>
  );
}

/** How long the call took, or takes until now; empty where that is not known. */
export function useCallTime({ row, sentAt }: ToolCallItemProps): string {
  const isRunning = row.status === 'dispatched';
  const now = useNow(isRunning);
  if (row.durationMs !== null) return duration(row.durationMs);
  return isRunning && sentAt !== undefined ? duration(between(sentAt, new Date(now).toISOString())) : '';
}

interface OutputProps {
  readonly output: string;
  readonly isWhole: boolean;
  readonly isLive: boolean;
}

function Output({ output, isWhole, isLive }: OutputProps) {
  const text = colouredText(output).replace(/\n+$/, '');
  if (plainText(text).trim() === '') return null;
  const lines = text.split('\n');
  const left = isWhole || lines.length < shownLines + 4 ? 0 : lines.length - shownLines;
  const file = fileOfRest(text);
  return (
    <>
      {left > 0 && <p className="hint">… {left} earlier lines</p>}
      <pre tabIndex={0} aria-label="Output" dir="auto">
        <AnsiText text={lines.slice(left).join('\n')} after={lines.slice(0, left).join('\n')} />
        {isLive && <span className="caret" aria-hidden="true" />}
      </pre>
      {file !== undefined && <WorkspaceFile path={file} />}
    </>
  );
}

/** The file that keeps what a long output leaves out; the output names it where something is left out. */
const fileOfRest = (text: string): string | undefined =>
  /\n\[… \d+ characters left out; what was kept of them is in the file (.+) …\]\n/.exec(text)?.[1];

interface WholeProps {
  readonly row: ToolCallRow;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function Whole({ row, isOpen, toggle }: WholeProps) {
  const lines = row.output.split('\n').length;
  return (
    <>
      {isOpen && row.replacedArguments && (
        <>
          <p className="hint">The model asked for</p>
          <pre tabIndex={0} aria-label="Arguments that were changed" className="arguments">
            {JSON.stringify(row.replacedArguments, null, 2)}
          </pre>
          <p className="hint">Sent with</p>
        </>
      )}
      {isOpen && (
        <pre tabIndex={0} aria-label="Arguments" className="arguments">
          {row.arguments ? JSON.stringify(row.arguments, null, 2) : row.argumentsText}
        </pre>
      )}
      <button className="quiet" aria-expanded={isOpen} onClick={toggle}>
        {isOpen ? 'Show less' : lines > shownLines + 4 ? `All ${lines} lines and the arguments` : 'Arguments'}
      </button>
    </>
  );
}

/** From a call of `run_agent` to the run that it has started. */
function ChildLink({ callId }: { readonly callId: string }) {
  const child = useTimelineLinks().children.get(callId);
  if (!child) return null;
  return (
    <p className="child-link">
      <Link to="/runs/$runId" params={{ runId: child.id }} title={child.id}>
        The run that it started
      </Link>
      <Status status={child.status} finishReason={child.finish_reason} />
    </p>
  );
}

/** A link to a file of the run's workspace, where the earlier lines of an output are kept. */
function WorkspaceFile({ path }: { readonly path: string }) {
  const rondo = useRondo();
  const { threadId } = useTimelineLinks();
  const { data: sandbox } = useQuery({ ...sandboxOfThread(rondo, threadId ?? ''), enabled: threadId !== undefined });
  if (!sandbox) return null;
  return (
    <p className="hint">
      What is left out is in{' '}
      <Link
        to="/sandboxes/$sandboxId"
        params={{ sandboxId: sandbox.id }}
        search={{ path: path.replace(/^\/workspace\//, '') }}
      >
        {path}
      </Link>
      .
    </p>
  );
}
