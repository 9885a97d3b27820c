import type { AgentDefinition, NewRun, Run } from '@rondo/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Timeline } from '../run/timeline.tsx';
import { useRunFeed } from '../run/run-feed.ts';
import { WhyLine } from '../run/why-line.tsx';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { AreaField } from '../ui/fields.tsx';
import { Status } from '../ui/status.tsx';

/** A run with exactly this definition, whether or not it is stored. Kept values of headers are not known here: they are left out. */
export function toRun({ profile, mcp_servers: servers, ...rest }: AgentDefinition, input: string): NewRun {
  const agent = { ...rest, ...(servers && { mcp_servers: servers.map(withoutKeptHeaders) }) };
  return { input, agent, ...(profile !== undefined && { profile }) };
}

type StoredServer = NonNullable<AgentDefinition['mcp_servers']>[number];
type RunServer = NonNullable<NonNullable<NewRun['agent']>['mcp_servers']>[number];

function withoutKeptHeaders(server: StoredServer): RunServer {
  if (server.transport === 'stdio') return server;
  const { headers = {}, ...rest } = server;
  const known = Object.entries(headers).filter((header): header is [string, string] => header[1] !== null);
  return { ...rest, headers: Object.fromEntries(known) };
}

interface TryAgentProps {
  readonly definition: AgentDefinition;
  /** What is written beside it is something else, which cannot be read. */
  readonly isBroken: boolean;
  /** What it is compared with. */
  readonly other: AgentDefinition | undefined;
}

/** Runs what the editor shows, beside it. */
export function TryAgent({ definition, isBroken, other }: TryAgentProps) {
  const rondo = useRondo();
  const navigate = useNavigate();
  const [input, setInput] = useState('');
  const [run, setRun] = useState<Run | null>(null);
  const requireWhole = () => {
    if (isBroken) throw new Error('What is written here cannot be read. Correct it first.');
    if (input.trim() === '') throw new Error('Write what it is asked first.');
  };
  const start = async () => {
    requireWhole();
    setRun(await rondo.runs.create(toRun(definition, input)));
  };
  const startBoth = async () => {
    requireWhole();
    if (!other) return;
    const [a, b] = await Promise.all([other, definition].map((one) => rondo.runs.create(toRun(one, input))));
    if (a && b) await navigate({ to: '/compare', search: { a: a.id, b: b.id } });
  };
  return (
    <section className="try" aria-label="Try it">
      <h2>Try it</h2>
      <AreaField
        label="What it is asked"
        rows={3}
        value={input}
        onChange={(event) => setInput(event.currentTarget.value)}
      />
      <div className="actions">
        <Action className="primary" work={start}>
          Run what is written here
        </Action>
        {other && <Action work={startBoth}>Run it and the active version, side by side</Action>}
      </div>
      {run && <TriedRun key={run.id} runId={run.id} />}
    </section>
  );
}

function TriedRun({ runId }: { readonly runId: string }) {
  const rondo = useRondo();
  const { now } = useRunFeed(runId, undefined);
  const { view, details } = now;
  return (
    <div className="tried">
      <div className="run-line">
        <Status status={view.status} finishReason={view.finishReason} />
        <WhyLine runId={runId} view={view} isNow />
        <Link to="/runs/$runId" params={{ runId }}>
          Open this run
        </Link>
        {!view.isOver && view.lastSeq > 0 && (
          <Action className="danger" work={() => rondo.runs.stop(runId, { reason: 'Stopped in the console.' })}>
            Stop
          </Action>
        )}
      </div>
      <Timeline rows={view.rows} details={details} follows isConversation />
      {view.failure && (
        <p className="problem" role="alert">
          {view.failure.message}
        </p>
      )}
    </div>
  );
}
