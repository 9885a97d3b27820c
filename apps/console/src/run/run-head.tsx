import { type Run, type RunView, type Fact, type LogProof, proveLog } from '@rondo/client';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useRunTitle } from '../runs/run-title.ts';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { cost, count, duration, isUsageKnown } from '../ui/amounts.ts';
import { Status } from '../ui/status.tsx';
import { useNow } from '../ui/use-now.ts';
import { measureRun, type RunDetails } from './run-details.ts';
import type { FedRun } from './run-feed.ts';
import { RunOrigin } from './run-origin.tsx';
import { WhyLine } from './why-line.tsx';
import { problemText } from '../ui/problem-text.ts';

const route = getRouteApi('/runs/$runId');

interface RunHeadProps {
  readonly run: Run;
  readonly view: RunView;
  readonly details: RunDetails;
  readonly now: FedRun;
  readonly isNow: boolean;
  /** Begins a fork after the last fact that is shown. Absent: the reader may not. */
  readonly fork: (() => void) | undefined;
  /** Asks the same once more. Absent: the reader may not, or looks at an earlier moment. */
  readonly askAgain: (() => void) | undefined;
}

export function RunHead({ run, view, details, now, isNow, fork, askAgain }: RunHeadProps) {
  const title = useRunTitle(run);
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const isOver = now.view.isOver;
  return (
    <header className="run-head">
      <p className="crumb">
        <Link to="/runs">Runs</Link> / <code>{run.id}</code>
      </p>
      <h1 dir="auto">{title ?? run.id}</h1>
      <div className="run-line">
        <Status status={view.status} finishReason={view.finishReason} steers={run.steers} />
        <WhyLine runId={run.id} view={view} isNow={isNow} steers={run.steers} />
        {!isOver && now.connection === 'connecting' && <span className="hint">Connecting …</span>}
        <ProofBadge runId={run.id} feed={now} />
        {fork && <button onClick={fork}>Fork</button>}
        {askAgain && <button onClick={askAgain}>Ask again</button>}
        {mayWrite && isOver && (
          <Link to="/runs/new" search={{ from: run.id }} className="button">
            Run again
          </Link>
        )}
        {mayWrite && !isOver && view.status !== 'stopping' && (
          <Action className="danger" work={() => rondo.runs.stop(run.id, { reason: 'Stopped in the console.' })}>
            Stop
          </Action>
        )}
      </div>
      <RunOrigin run={run} />
      <Facts run={run} view={view} details={details} isNow={isNow} />
    </header>
  );
}

function Facts({ run, view, details, isNow }: Omit<RunHeadProps, 'now' | 'fork' | 'askAgain'>) {
  const now = useNow(isNow && !view.isOver);
  const end = (isNow ? details.endedAt : details.lastAt) ?? new Date(now).toISOString();
  const { usage } = view;
  return (
    <p className="run-facts">
      {run.settings.agent.name !== undefined && <span>{run.settings.agent.name}</span>}
      <span>{run.model}</span>
      <span>{duration(measureRun(details, end))}</span>
      {isUsageKnown(usage) && (
        <>
          <span>
            {count(usage.input_tokens)} tokens in, {count(usage.output_tokens)} out
          </span>
          <span>{cost(usage.cost_usd)}</span>
        </>
      )}
      <span className="run-links">
        <WaterfallLink runId={run.id} />
        <Link to="/threads/$threadId" params={{ threadId: run.thread_id }}>
          Conversation
        </Link>
        <Link to="/runs" search={{ thread: run.thread_id }}>
          Runs of this thread
        </Link>
        <Link to="/compare" search={{ a: run.id }}>
          Compare
        </Link>
      </span>
    </p>
  );
}

/** The timeline and the waterfall are two views of the same facts. */
function WaterfallLink({ runId }: { readonly runId: string }) {
  const { view, ...search } = route.useSearch();
  return (
    <Link
      to="/runs/$runId"
      params={{ runId }}
      search={view === undefined ? { ...search, view: 'waterfall' } : search}
      replace
    >
      {view === undefined ? 'Waterfall' : 'Timeline'}
    </Link>
  );
}

type Proof = LogProof | 'working' | { readonly problem: string } | null;

/** Computes the hash of the facts that this page shows, here, and compares it with the gateway's. */
function ProofBadge({ runId, feed }: { readonly runId: string; readonly feed: FedRun }) {
  const rondo = useRondo();
  const [proof, setProof] = useState<Proof>(null);
  const prove = () => {
    if (!isSecureContext) {
      setProof({ problem: 'Browsers compute hashes only on https or localhost' });
      return;
    }
    setProof('working');
    rondo.runs
      .verification(runId)
      .then((gateway) => proveLog(gateway, inOrder(feed.facts)))
      .then(setProof, (error: unknown) => setProof({ problem: problemText(error) }));
  };
  const [className, words] = describe(proof, feed);
  return (
    <button className={`proof ${className}`} onClick={prove} disabled={proof === 'working'}>
      {words}
    </button>
  );
}

function describe(proof: Proof, { view }: FedRun): [className: string, words: string] {
  if (proof === null) return ['', 'Verify this log'];
  if (proof === 'working') return ['', 'Computing …'];
  if ('problem' in proof) return ['wrong', proof.problem];
  if (proof.missing !== undefined) return ['wrong', `Not whole: fact ${proof.missing} is missing`];
  const [difference] = proof.gateway.differences ?? [];
  if (difference !== undefined) return ['wrong', `Not what the log says: ${difference}`];
  if (!proof.isProven)
    return ['wrong', `Not the gateway’s log: ${proof.count} facts here, ${proof.gateway.count} there`];
  const open = view.isOver ? 'complete' : 'complete so far';
  return ['proven', `1…${proof.gateway.last ?? 0}, ${open}, proven in this browser`];
}

// eslint-disable-next-line @typescript-eslint/require-await -- what proves takes facts as they arrive
async function* inOrder(facts: readonly Fact[]): AsyncGenerator<Fact, void> {
  yield* facts;
}
