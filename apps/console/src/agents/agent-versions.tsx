import type { Agent, AgentVersion, AgentComparison } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMay, useRondo } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { age } from '../ui/amounts.ts';
import { Failure, type Listed, Loading, NotAll } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { AreaField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';

interface AgentVersionsProps {
  readonly agent: Agent;
  readonly versions: Listed<AgentVersion>;
  readonly onChanged: () => Promise<unknown>;
}

/** The versions, newest first: how they differ, and the way back to one. */
export function AgentVersions({ agent, versions, onChanged }: AgentVersionsProps) {
  const [compared, setCompared] = useState<number | null>(null);
  return (
    <section className="section" aria-label="Versions">
      <h2>Versions</h2>
      <ol className="versions">
        {versions.items.map((each) => (
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
      <NotAll list={versions} what="versions" />
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
      {isCompared && version !== agent.version && <Comparison agent={agent} version={version} />}
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
  if (error && !data) return <Failure error={error} />;
  return data ? <VersionChanges comparison={data} /> : <Loading what="the differences" />;
}

const toShownValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** What the second version has in place of the first. Shapes and words say which is which, not only the colours. */
function VersionChanges({ comparison: { from, to, changes } }: { readonly comparison: AgentComparison }) {
  if (changes.length === 0) return <p className="hint">The two versions have the same definition.</p>;
  return (
    <dl className="changes" aria-label={`From version ${from} to version ${to}`}>
      {changes.map(({ path, before, after, op }) => (
        <div key={path}>
          <dt>
            <code>{path}</code>
          </dt>
          {op !== 'add' && (
            <dd className="before">
              <span>In version {from}</span>
              <pre tabIndex={0}>{toShownValue(before)}</pre>
            </dd>
          )}
          {op !== 'remove' && (
            <dd className="after">
              <span>In version {to}</span>
              <pre tabIndex={0}>{toShownValue(after)}</pre>
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

interface VersionNoteProps {
  readonly agentId: string;
  readonly version: AgentVersion;
  readonly refresh: () => Promise<unknown>;
}

/** What a person says of a version. It is all of a version that can be changed. */
function VersionNote({ agentId, version: { version, note }, refresh }: VersionNoteProps) {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const [isOpen, setOpen] = useState(false);
  const save = async (fields: FormData) => {
    await rondo.agents.noteVersion(agentId, version, toText(fields, 'note') || null);
    await refresh();
    setOpen(false);
  };
  if (isOpen)
    return (
      <Form work={save} button="Save the note" label={`Note of version ${version}`} cancel={() => setOpen(false)}>
        <AreaField label="Note" name="note" rows={2} maxLength={2_000} defaultValue={note ?? ''} />
      </Form>
    );
  return (
    <p className="version-note">
      {note !== null && `${note} `}
      {mayWrite && (
        <button
          className="quiet"
          aria-label={`${note === null ? 'Add a note to' : 'Change the note of'} version ${version}`}
          onClick={() => setOpen(true)}
        >
          {note === null ? 'Add a note' : 'Change'}
        </button>
      )}
    </p>
  );
}
