import { describeAction } from '@rondo/react';
import { Suspense, lazy, type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react';
import { Terminal } from '../../terminal/terminal.tsx';
import { Loading } from '../../ui/states.tsx';
import type { Step } from '../turns.ts';
import { type ChatPanel, useChatPanel } from '../use-chat-panel.ts';
import { Playback } from './playback.tsx';
import { StepView } from './step-view.tsx';

interface ComputerProps {
  readonly steps: readonly Step[];
  readonly shown: Step | undefined;
  /** The way into the browser as it is now. */
  readonly browser: ReactNode;
}

const WorkspaceFile = lazy(() => import('./workspace-file-panel.tsx'));

/** What the agent does, beside the conversation, or as a sheet over it where there is no space. */
export function Computer(props: ComputerProps) {
  const panel = useChatPanel();
  if (!panel.isOpen || (props.steps.length === 0 && panel.target === 'newest')) return null;
  if (!panel.isBeside) return <Sheet panel={panel} {...props} />;
  return (
    <aside className="computer" aria-label="Computer">
      <Inside panel={panel} {...props} />
    </aside>
  );
}

type InsideProps = ComputerProps & { readonly panel: ChatPanel };

function Sheet(props: InsideProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="computer sheet" aria-label="Computer" onClose={() => props.panel.setOpen(false)}>
      <Inside {...props} />
    </dialog>
  );
}

function Inside({ panel, steps, shown, browser }: InsideProps) {
  const { target, threadId, terminal, setOpen, show } = panel;
  const isTerminal = target === 'terminal' && terminal !== undefined;
  const path = typeof target === 'object' && 'file' in target ? target.file : undefined;
  const upTo = useMemo(() => (shown ? steps.slice(0, steps.indexOf(shown) + 1) : []), [steps, shown]);
  const action = shown && describeAction(shown.row);
  const title = isTerminal ? 'Your terminal' : (path ?? (action ? `${action.verb} ${action.object}` : ''));
  return (
    <>
      <header>
        <h2 dir="auto" title={title}>
          {title}
        </h2>
        {terminal && !isTerminal && <button onClick={() => show('terminal')}>Terminal</button>}
        {target !== 'newest' && (
          <button className="follow" onClick={() => show('newest')}>
            Follow
          </button>
        )}
        <button className="quiet" aria-label="Close the computer" onClick={() => setOpen(false)}>
          ×
        </button>
      </header>
      <div className="computer-body" tabIndex={0} role="group" aria-label="What is shown">
        {isTerminal ? (
          <Terminal session={terminal} />
        ) : path !== undefined && threadId !== undefined ? (
          <Suspense fallback={<Loading what="the file" />}>
            <WorkspaceFile key={path} threadId={threadId} path={path} />
          </Suspense>
        ) : (
          <StepView steps={upTo} browser={browser} />
        )}
      </div>
      {path === undefined && !isTerminal && shown && <StepsOfRun steps={steps} shown={shown} label={title} />}
    </>
  );
}

interface StepsOfRunProps {
  readonly steps: readonly Step[];
  readonly shown: Step;
  readonly label: string;
}

function StepsOfRun({ steps, shown, label }: StepsOfRunProps) {
  const { show } = useChatPanel();
  const own = useMemo(() => steps.filter(({ runId }) => runId === shown.runId), [steps, shown.runId]);
  const go = useCallback(
    (index: number) => {
      const step = own[index];
      if (step) show({ call: step.row.id });
    },
    [own, show],
  );
  const index = own.findIndex(({ row }) => row.id === shown.row.id);
  return <Playback index={index} count={own.length} label={label} go={go} />;
}
