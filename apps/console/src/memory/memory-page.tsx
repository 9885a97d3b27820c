import { type MemoryStore, take } from '@rondo/client';
import { plainText } from '@rondo/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { AgentTabs } from '../ui/tabs.tsx';
import { useMay, useRondo } from '../session/use-session.ts';
import { age, bytes, count } from '../ui/amounts.ts';
import { SearchField } from '../ui/fields.tsx';
import { Empty, Failure, Loading } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { useNow } from '../ui/use-now.ts';
import { NewStore } from './new-store.tsx';
import { StoreScope, useOwners } from './store-scope.tsx';

const route = getRouteApi('/agents/memory');
const pageSize = 50;

/** The memory stores of the account, newest first. The user whose stores are shown is in the address. */
export function MemoryPage() {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const { user } = route.useSearch();
  const [shown, setShown] = useState(pageSize);
  const { data, error, refetch } = useQuery({
    queryKey: ['memory stores', user, shown],
    queryFn: () => take(rondo.memoryStores.list({ limit: pageSize, user }), shown),
    placeholderData: keepPreviousData,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  return (
    <>
      <div className="page-head">
        <h1>Memory</h1>
        <AgentTabs />
      </div>
      {mayWrite && <NewStore />}
      <UserFilter user={user} />
      {error && <Failure error={error} />}
      {!data && <Loading what="memory stores" />}
      {data?.items.length === 0 && <NoStores user={user} />}
      {data && data.items.length > 0 && <StoreTable stores={data.items} />}
      {data?.hasMore === true && <button onClick={() => setShown(shown + pageSize)}>Show older stores</button>}
    </>
  );
}

function UserFilter({ user }: { readonly user: string | undefined }) {
  const navigate = route.useNavigate();
  const show = (wanted: string) => void navigate({ search: wanted === '' ? {} : { user: wanted }, replace: true });
  return (
    <div className="filters">
      <SearchField label="Stores of the user" placeholder="Stores of the user …" value={user} search={show} />
    </div>
  );
}

function NoStores({ user }: { readonly user: string | undefined }) {
  if (user !== undefined) return <Empty title="This user has no memory store." />;
  return (
    <Empty title="No memory stores yet.">
      <p>
        A store keeps what agents learn beyond one thread. A run that names it reads its entries, and writes them if it
        may.
      </p>
    </Empty>
  );
}

function StoreTable({ stores }: { readonly stores: readonly MemoryStore[] }) {
  const now = useNow();
  const owners = useOwners();
  return (
    <Table label="Memory stores" columns={['Name', 'Of', ['Entries', 'number'], ['Size', 'number'], 'Changed']}>
      {stores.map((store) => (
        <tr key={store.id}>
          <td>
            <Link to="/agents/memory/$storeId" params={{ storeId: store.id }}>
              {store.name}
            </Link>
            {store.description !== '' && (
              <p className="hint" dir="auto">
                {plainText(store.description)}
              </p>
            )}
          </td>
          <td>
            <StoreScope store={store} owners={owners} />
          </td>
          <td className="number">{count(store.entry_count)}</td>
          <td className="number">{bytes(store.size)}</td>
          <td title={new Date(store.updated_at).toLocaleString()} className="nowrap">
            {age(store.updated_at, now)}
          </td>
        </tr>
      ))}
    </Table>
  );
}
