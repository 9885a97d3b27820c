import { type AuditEntry, take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { type SubmitEvent, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { age } from '../ui/amounts.ts';
import { ChoiceField, TextField } from '../ui/fields.tsx';
import { toText } from '../ui/form.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { AccessTabs } from '../ui/tabs.tsx';
import { useKeyNames } from './key-names.ts';
import { type AuditSearch, auditFilters, readAuditSearch, toAuditQuery } from '../searches.ts';

const route = getRouteApi('/keys/audit');
const pageSize = 50;

/** Every administrative act of the account, newest first. The filters are in the address. */
export function AuditPage() {
  const rondo = useRondo();
  const search = route.useSearch();
  const [shown, setShown] = useState(pageSize);
  const { data, error, refetch } = useQuery({
    queryKey: ['audit', search, shown],
    queryFn: () => take(rondo.audit({ limit: pageSize, ...toAuditQuery(search) }), shown),
    placeholderData: keepPreviousData,
  });
  const keyNames = useKeyNames();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Audit log</h1>
        <AccessTabs />
      </div>
      <AuditFilters search={search} keyNames={keyNames} />
      {error && <Failure error={error} />}
      {!data && <Loading what="the log" />}
      {data?.items.length === 0 && <Empty title="No entry matches these filters." />}
      {data && data.items.length > 0 && <AuditTable entries={data.items} keyNames={keyNames} />}
      {data?.hasMore === true && <button onClick={() => setShown(shown + pageSize)}>Show older entries</button>}
    </>
  );
}

interface AuditFiltersProps {
  readonly search: AuditSearch;
  readonly keyNames: ReadonlyMap<string, string>;
}

const outcomes = [
  ['', 'any'],
  ['done', 'done'],
  ['refused', 'refused'],
  ['unknown', 'unknown'],
] as const;

function AuditFilters({ search, keyNames }: AuditFiltersProps) {
  const navigate = route.useNavigate();
  const filter = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void navigate({
      search: readAuditSearch(Object.fromEntries(auditFilters.map((name) => [name, toText(fields, name)]))),
    });
  };
  return (
    <form key={JSON.stringify(search)} onSubmit={filter} aria-label="Filters" className="audit-filters">
      <div className="fields">
        <TextField
          label="Action"
          name="action"
          placeholder="api_key.revoke"
          spellCheck={false}
          defaultValue={search.action}
        />
        <ChoiceField
          key={keyNames.size}
          label="By"
          name="by"
          options={[['', 'anyone'], ...keyNames]}
          defaultValue={search.by}
        />
        <TextField label="Of what" name="target" placeholder="an id" spellCheck={false} defaultValue={search.target} />
        <ChoiceField label="Outcome" name="outcome" options={outcomes} defaultValue={search.outcome} />
        <TextField label="From" name="from" type="datetime-local" defaultValue={search.from} />
        <TextField label="Before" name="before" type="datetime-local" defaultValue={search.before} />
      </div>
      <div className="actions">
        <button className="primary">Filter</button>
        {Object.keys(search).length > 0 && (
          <Link to="/keys/audit" search={{}} className="button">
            All acts
          </Link>
        )}
      </div>
    </form>
  );
}

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  readonly keyNames: ReadonlyMap<string, string>;
}

function AuditTable({ entries, keyNames }: AuditTableProps) {
  const now = useNow();
  return (
    <Table label="Acts" columns={['When', 'What', 'Of what', 'By', 'From', 'Outcome']}>
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
    </Table>
  );
}
