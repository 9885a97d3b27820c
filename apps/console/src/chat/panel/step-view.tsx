import { colouredText, findView, plainText } from '@rondo/react';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import { DiffView } from '../../diff/diff-view.tsx';
import { Code } from '../../markdown/code.tsx';
import { Markdown } from '../../markdown/markdown.tsx';
import { safeLink } from '../../markdown/safe-link.ts';
import { BlobImage } from '../../run/blob-image.tsx';
import { PlanList, countDone } from '../../run/plan-list.tsx';
import { ToolCallItem } from '../../run/tool-call-item.tsx';
import { AnsiText } from '../../ui/ansi-text.tsx';
import type { Step } from '../turns.ts';
import { toFileChange } from './file-change.ts';

interface StepViewProps {
  /** The step that is shown is the last of these. */
  readonly steps: readonly Step[];
  /** The way into the browser as it is now. */
  readonly browser: ReactNode;
}

/** One call as a person would have seen it at the computer. Everything about it can be opened. */
export function StepView({ steps, browser }: StepViewProps) {
  const step = steps.at(-1);
  if (!step) return null;
  const { row, plan, isOfPlan } = step;
  return (
    <>
      {plan.length > 0 && (
        <details key={`plan ${row.id}`} className="computer-plan" open={isOfPlan}>
          <summary>{countDone(plan)}</summary>
          <PlanList plan={plan} />
        </details>
      )}
      <Picture steps={steps} step={step} browser={browser} />
      {findView(row) !== 'call' && (
        <details key={`all ${row.id}`} className="computer-all" open={row.status === 'failed'}>
          <summary>Everything about this call</summary>
          <ToolCallItem row={row} sentAt={row.startedAt ?? undefined} />
        </details>
      )}
    </>
  );
}

function Picture({ steps, step, browser }: StepViewProps & { readonly step: Step }) {
  switch (findView(step.row)) {
    case 'terminal':
      return <Terminal steps={steps} />;
    case 'file':
      return <File steps={steps} />;
    case 'browser':
      return <Browser steps={steps} browser={browser} />;
    case 'page':
      return <PageRead step={step} />;
    case 'call':
      return <ToolCallItem row={step.row} sentAt={step.row.startedAt ?? undefined} />;
  }
}

const shownCommands = 12;
const shownCharacters = 60_000;

/** The newest commands of the run and what they printed, as a terminal shows them. */
function Terminal({ steps }: Pick<StepViewProps, 'steps'>) {
  const runId = steps.at(-1)?.runId;
  const commands = steps.filter((one) => one.runId === runId && findView(one.row) === 'terminal').slice(-shownCommands);
  const end = useRef<HTMLDivElement>(null);
  const newest = commands.at(-1)?.row;
  useEffect(() => {
    if (end.current) end.current.scrollTop = end.current.scrollHeight;
  }, [newest?.id, newest?.output]);
  return (
    <div className="terminal" ref={end} tabIndex={0} role="group" aria-label="Terminal">
      {commands.map(({ row }) => {
        const output = colouredText(row.output.slice(-shownCharacters)).replace(/\n+$/, '');
        const line = row.arguments?.['command'];
        return (
          <pre key={row.id} dir="auto">
            <b>$ {plainText(typeof line === 'string' ? line : row.name)}</b>
            {'\n'}
            <AnsiText text={output} />
            {row.status === 'dispatched' && <span className="caret" aria-hidden="true" />}
            {row.result?.error !== undefined && <span className="problem">{`\n${plainText(row.result.error)}`}</span>}
          </pre>
        );
      })}
    </div>
  );
}

const readExtension = (path: string): string => path.slice(path.lastIndexOf('.') + 1).toLowerCase();

function File({ steps }: Pick<StepViewProps, 'steps'>) {
  const change = useMemo(() => toFileChange(steps), [steps]);
  const row = steps.at(-1)?.row;
  if (!change || !row) return row ? <pre tabIndex={0}>{plainText(row.argumentsText)}</pre> : null;
  const { path, before, after, isPart } = change;
  const name = plainText(path);
  return (
    <section className="computer-file" aria-label={name}>
      <h3 dir="auto">{name}</h3>
      {after === null ? (
        <Text path={path} text={plainText(row.output)} hasFailed={row.status === 'failed'} />
      ) : before === null ? (
        <Text path={path} text={plainText(after)} />
      ) : (
        <>
          {isPart && <p className="hint">The part that was exchanged.</p>}
          <DiffView label={`What is changed in ${name}`} before={before} after={after} />
        </>
      )}
    </section>
  );
}

interface TextProps {
  readonly path: string;
  readonly text: string;
  readonly hasFailed?: boolean;
}

function Text({ path, text, hasFailed = false }: TextProps) {
  if (text.trim() === '')
    return <p className="hint">{hasFailed ? 'The call has failed.' : 'Nothing to be seen yet.'}</p>;
  const isLong = text.length > shownCharacters;
  return (
    <>
      <Code text={text.slice(0, shownCharacters)} language={readExtension(path)} />
      {isLong && <p className="hint">The rest is longer than what can be shown here.</p>}
    </>
  );
}

/** The page after the step; until it is known, the one before it. */
function Browser({ steps, browser }: StepViewProps) {
  const runId = steps.at(-1)?.runId;
  const screen = steps.findLast((one) => one.runId === runId && one.screen !== null)?.screen;
  return (
    <section className="computer-browser" aria-label="Browser">
      {screen ? (
        <>
          <p className="computer-address" dir="auto">
            {plainText(screen.url)}
          </p>
          {screen.sha256 !== null && <BlobImage sha256={screen.sha256} alt={`Screenshot of ${screen.title}`} />}
        </>
      ) : (
        <p className="hint">There is no picture of the page.</p>
      )}
      {browser}
    </section>
  );
}

/** What was read of the web. */
function PageRead({ step: { row } }: { readonly step: Step }) {
  const given = row.arguments?.['url'] ?? row.arguments?.['urls'];
  const address = typeof given === 'string' ? safeLink(given) : undefined;
  return (
    <section className="computer-page" aria-label="What was read">
      {address !== undefined && (
        <p className="computer-address">
          <a href={address} target="_blank" rel="noopener noreferrer nofollow">
            {plainText(address)}
          </a>
        </p>
      )}
      {row.result?.error !== undefined && <p className="problem">{plainText(row.result.error)}</p>}
      <Markdown text={plainText(row.output.slice(0, shownCharacters))} />
    </section>
  );
}
