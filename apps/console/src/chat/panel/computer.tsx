import { describeAction } from '@rondo/react';
import { Suspense, lazy, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { loadFiles } from '../../session/load-files.ts';
import { Terminal } from '../../terminal/terminal.tsx';
import { Loading } from '../../ui/states.tsx';
import type { Step } from '../turns.ts';
import { type ChatPanel, useChatPanel } from '../use-chat-panel.ts';
import { StepView } from './step-view.tsx';

interface ComputerProps {
  readonly steps: readonly Step[];
  readonly shown: Step | undefined;
  /** The way into the browser as it is now. */
  readonly browser: ReactNode;
}

const WorkspaceFile = lazy(() => loadFiles(() => import('./workspace-file-panel.tsx')));

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

interface PlaybackProps {
  /** Which step of the run is shown, from 0, and how many there are. */
  readonly index: number;
  readonly count: number;
  readonly label: string;
  readonly go: (index: number) => void;
}

const stepMs = 1_500;

/** Goes through the steps of a run, one by one, by itself or by hand. */
function Playback({ index, count, label, go }: PlaybackProps) {
  const [isPlaying, setPlaying] = useState(false);
  const isLast = index >= count - 1;
  useEffect(() => {
    if (!isPlaying) return;
    if (isLast) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => go(index + 1), stepMs);
    return () => clearTimeout(timer);
  }, [isPlaying, isLast, index, go]);
  const jump = (to: number) => {
    setPlaying(false);
    go(to);
  };
  const play = () => {
    if (isLast) go(0);
    setPlaying(!isPlaying);
  };
  return (
    <div className="playback" role="group" aria-label="Playback">
      <button aria-label="The step before" disabled={index === 0} onClick={() => jump(index - 1)}>
        ‹
      </button>
      <button aria-label={isPlaying ? 'Pause' : 'Play'} disabled={count < 2} onClick={play}>
        {isPlaying ? '❚❚' : '▶'}
      </button>
      <button aria-label="The step after" disabled={isLast} onClick={() => jump(index + 1)}>
        ›
      </button>
      <input
        type="range"
        min={1}
        max={count}
        value={index + 1}
        aria-label="Step of the run"
        aria-valuetext={`Step ${index + 1} of ${count}: ${label}`}
        onChange={({ currentTarget }) => jump(Number(currentTarget.value) - 1)}
      />
      <output>
        {index + 1} of {count}
      </output>
    </div>
  );
}
