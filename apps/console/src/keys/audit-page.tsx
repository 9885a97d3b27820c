import type { AuditEntry } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { take } from '../ui/take.ts';
import { useNow } from '../ui/use-now.ts';
import { AccessTabs } from './access-tabs.tsx';

const pageSize = 50;

/** Every administrative act of the account, newest first. */
export function AuditPage() {
  const rondo = useRondo();
  const [action, setAction] = useState('');
  const [shown, setShown] = useState(pageSize);
  const { data, error, refetch } = useQuery({
    queryKey: ['audit', action, shown],
    queryFn: () => take(rondo.audit({ limit: pageSize, ...(action !== '' && { action }) }), shown),
    placeholderData: keepPreviousData,
  });
  const keyNames = useKeyNames();
  if (error && !data) return <Failed error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Audit log</h1>
        <AccessTabs />
      </div>
      <input
        dir="auto"
        type="search"
        className="narrow"
        aria-label="Only this action"
        placeholder="Only this action, such as api_key.revoke"
        onChange={({ currentTarget }) => setAction(currentTarget.value.trim())}
      />
      {!data && <Loading what="the log" />}
      {data?.items.length === 0 && <Empty title="No such acts." />}
      {data && data.items.length > 0 && <AuditTable entries={data.items} keyNames={keyNames} />}
      {data?.hasMore === true && <button onClick={() => setShown(shown + pageSize)}>Show older acts</button>}
    </>
  );
}

/** The names of the account's keys: an id says little about who has done something. */
function useKeyNames(): ReadonlyMap<string, string> {
  const rondo = useRondo();
  const { data } = useQuery({ queryKey: ['keys'], queryFn: () => take(rondo.apiKeys.list({ limit: 100 }), 300) });
  return new Map(data?.items.map(({ id, name }) => [id, name]));
}

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  readonly keyNames: ReadonlyMap<string, string>;
}

function AuditTable({ entries, keyNames }: AuditTableProps) {
  const now = useNow();
  return (
    <div className="table" tabIndex={0} role="region" aria-label="Acts">
      <table>
        <thead>
          <tr>
            {['When', 'What', 'Of what', 'By', 'From', 'Outcome'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td title={new Date(entry.at).toLocaleString()} className="nowrap">
                {age(entry.at, now)}
              </td>
              <td>
                <code>{entry.action}</code>
              </td>
              <td>
                <code className="id">{entry.target ?? '–'}</code>
              </td>
              <td title={entry.caller_id}>
                {keyNames.get(entry.caller_id) ?? <code className="id">{entry.caller_id}</code>}
              </td>
              <td>{entry.address}</td>
              <td className={entry.outcome === 'done' ? undefined : 'problem'}>
                {entry.outcome}
                {entry.problem !== null && `: ${entry.problem}`}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
