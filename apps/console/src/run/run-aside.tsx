import type { Run, RunView } from '@rondo/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { useQuery } from '@tanstack/react-query';
import { count } from '../ui/amounts.ts';
import { OpenBrowser } from '../browser/open-browser.tsx';
import { atWork } from '../runs/at-work.ts';
import { BrowserView } from './browser-view.tsx';
import { ChildRuns } from './child-runs.tsx';
import { PlanList, countDone } from './plan-list.tsx';
import type { RunDetails } from './run-details.ts';
import { FileTree } from '../sandboxes/file-tree.tsx';
import { stateMeaning } from '../sandboxes/sandbox-state.tsx';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { sandboxOfThread } from './thread-sandbox.ts';

interface RunAsideProps {
  readonly run: Run;
  readonly view: RunView;
  readonly details: RunDetails;
}

/** What belongs to the run as a whole. */
export function RunAside({ run, view, details }: RunAsideProps) {
  return (
    <aside className="run-aside" aria-label="About this run">
      {details.plan.length > 0 && (
        <section>
          <h2>{countDone(details.plan)}</h2>
          <PlanList plan={details.plan} />
        </section>
      )}
      <BrowserView
        screens={details.screens}
        live={<OpenBrowser threadId={run.thread_id} isFree={!atWork.includes(run.status)} />}
      />
      <ChildRuns run={run} />
      <FilesSection threadId={run.thread_id} endedCalls={countEndedCalls(view)} />
      {details.contextTokens > 0 && <Context run={run} details={details} />}
      <section>
        <h2>Settings</h2>
        <dl>
          <Line name="Model" value={run.model} />
          <Line name="Profile" value={run.profile} />
          {run.agent_id !== null && <Line name="Agent" value={`version ${run.agent_version ?? ''}`} />}
          {run.user != null && (
            <Line
              name="User"
              value={
                <Link to="/users/$user" params={{ user: run.user }}>
                  {run.user}
                </Link>
              }
            />
          )}
          <Line name="Tools" value={String(run.settings.tools.length)} />
          <Line name="Max iterations" value={count(run.settings.limits.max_iterations)} />
          <Line name="Events" value={count(view.lastSeq)} />
        </dl>
      </section>
    </aside>
  );
}

const countEndedCalls = ({ rows }: RunView): number =>
  rows.filter((row) => row.kind === 'tool_call' && row.durationMs !== null).length;

function Context({ run, details }: { readonly run: Run; readonly details: RunDetails }) {
  const most = run.settings.context.token_threshold;
  return (
    <section>
      <h2>Context</h2>
      <meter
        min={0}
        max={most}
        value={Math.min(details.contextTokens, most)}
        aria-label="Tokens of the newest request"
      />
      <p className="hint">
        {count(details.contextTokens)} of {count(most)} tokens, then older messages are summarized
      </p>
    </section>
  );
}

function Line({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface FilesSectionProps {
  readonly threadId: string;
  /** Grows with each call that has ended: then the files are read again. */
  readonly endedCalls: number;
}

/** The files of the run's thread, as they are now. Looking at a run wakes no sandbox. */
function FilesSection({ threadId, endedCalls }: FilesSectionProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const { data: sandbox } = useQuery(sandboxOfThread(rondo, threadId));
  const sandboxId = sandbox?.id;
  useEffect(() => {
    if (endedCalls > 0) void refreshKey(['files', sandboxId]);
  }, [refreshKey, sandboxId, endedCalls]);
  return (
    <section>
      <h2>Files</h2>
      {sandbox?.state === 'awake' ? (
        <FileTree sandboxId={sandbox.id} directory="" shown={undefined} />
      ) : (
        <p className="hint">{sandbox ? stateMeaning(sandbox.state) : 'No files yet.'}</p>
      )}
      <OpenWorkspace threadId={threadId} />
    </section>
  );
}

/** Its sandbox is woken, or created if the thread has none. */
function OpenWorkspace({ threadId }: { readonly threadId: string }) {
  const rondo = useRondo();
  const navigate = useNavigate();
  const open = async () => {
    const { id } = await rondo.sandboxes.ofThread(threadId);
    await navigate({ to: '/sandboxes/$sandboxId', params: { sandboxId: id } });
  };
  if (!useMay('write')) return null;
  return <Action work={open}>Open the workspace</Action>;
}
