import type { Agent, AgentVersion } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { age } from '../ui/amounts.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { VersionChanges } from './version-changes.tsx';
import { VersionNote } from './version-note.tsx';

interface AgentVersionsProps {
  readonly agent: Agent;
  readonly versions: readonly AgentVersion[];
  readonly onChanged: () => Promise<unknown>;
}

/** All versions, newest first: how they differ, and the way back to one. */
export function AgentVersions({ agent, versions, onChanged }: AgentVersionsProps) {
  const [compared, setCompared] = useState<number | null>(null);
  return (
    <section className="section" aria-label="Versions">
      <h2>Versions</h2>
      <ol className="versions">
        {versions.map((each) => (
          <VersionItem
            key={each.version}
            agent={agent}
            version={each}
            isCompared={compared === each.version}
            compare={() => setCompared(compared === each.version ? null : each.version)}
            onChanged={onChanged}
          />
        ))}
      </ol>
    </section>
  );
}

interface VersionItemProps extends Omit<VersionActionsProps, 'version'> {
  readonly version: AgentVersion;
}

function VersionItem({ version: each, ...rest }: VersionItemProps) {
  const { agent, isCompared, onChanged } = rest;
  const { version, created_at: at } = each;
  const now = useNow();
  return (
    <li>
      <div className="version-line">
        <b>Version {version}</b>
        {version === agent.version && <span className="tag">active</span>}
        <time dateTime={at} title={new Date(at).toLocaleString()}>
          {age(at, now)}
        </time>
        {version !== agent.version && <VersionActions {...rest} version={version} />}
      </div>
      <VersionNote agentId={agent.id} version={each} refresh={onChanged} />
      {isCompared && <Comparison agent={agent} version={version} />}
    </li>
  );
}

interface VersionActionsProps {
  readonly agent: Agent;
  readonly version: number;
  readonly isCompared: boolean;
  readonly compare: () => void;
  readonly onChanged: () => Promise<unknown>;
}

function VersionActions({ agent, version, isCompared, compare, onChanged }: VersionActionsProps) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  return (
    <span className="version-actions">
      <button className="quiet" aria-expanded={isCompared} onClick={compare}>
        Compare with the active one
      </button>
      {mayWrite && (
        <Action
          label={`Activate version ${version}`}
          work={() => rondo.agents.activate(agent.id, version).then(onChanged)}
        >
          Activate
        </Action>
      )}
    </span>
  );
}

/** From the active version to the other one. */
function Comparison({ agent, version }: { readonly agent: Agent; readonly version: number }) {
  const rondo = useRondo();
  const { data, error } = useQuery({
    queryKey: ['comparison', agent.id, agent.version, version],
    queryFn: () => rondo.agents.compare(agent.id, { from: agent.version, to: version }),
  });
  if (error) return <Failed error={error} />;
  return data ? <VersionChanges comparison={data} /> : <Loading what="the differences" />;
}
