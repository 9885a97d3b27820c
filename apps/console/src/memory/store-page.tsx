import type { MemoryStore } from '@rondo/client';
import { plainText } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMay, useRondo } from '../session/use-session.ts';
import { age, bytes, count } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { hasNothing } from '../ui/problem-text.ts';
import { FailurePage, Loading } from '../ui/states.tsx';
import { AreaField, TextField } from '../ui/fields.tsx';
import { Figure } from '../ui/figure.tsx';
import { Form, toText } from '../ui/form.tsx';
import { ItemHead } from '../ui/item-head.tsx';
import { useNow } from '../ui/use-now.ts';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { EntryView } from './entry-view.tsx';
import { StoreEntries } from './store-entries.tsx';
import { StoreScope, useOwners } from './store-scope.tsx';

const route = getRouteApi('/agents/memory/$storeId');
const list = { to: '/agents/memory', name: 'Memory' };

/** A memory store: its entries, of which one is open. */
export function StorePage() {
  const { storeId } = route.useParams();
  const { path, version, words } = route.useSearch();
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const { data, error } = useQuery({
    queryKey: ['memory', storeId],
    queryFn: ({ signal }) => rondo.memoryStores.get(storeId, { signal }),
  });
  if (hasNothing(error, data)) return <FailurePage error={error} list={list} />;
  if (!data) return <Loading what="the store" />;
  return (
    <>
      <StoreHead store={data} />
      <div className="section sandbox-body">
        <section className="tree" aria-label="Entries">
          <StoreEntries storeId={storeId} words={words} shown={path} />
          {mayWrite && <NewEntry storeId={storeId} />}
        </section>
        {path === undefined ? (
          <p className="hint">Choose an entry to see it.</p>
        ) : (
          <EntryView key={`${path} ${version ?? ''}`} storeId={storeId} path={path} version={version} />
        )}
      </div>
    </>
  );
}

function StoreHead({ store }: { readonly store: MemoryStore }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const owners = useOwners();
  const now = useNow();
  const mayWrite = useMay('write');
  const remove = async () => {
    await rondo.memoryStores.delete(store.id);
    await refreshKey(['memory stores']);
    await navigate({ to: '/agents/memory' });
  };
  return (
    <ItemHead
      list={list}
      crumb={<code>{store.id}</code>}
      title={store.name}
      facts={
        <>
          <p className="run-facts">
            <span>
              of <StoreScope store={store} owners={owners} />
            </span>
            <span dir="auto">{plainText(store.description)}</span>
          </p>
          <dl className="figures">
            <Figure name="Entries" value={count(store.entry_count)} />
            <Figure name="All versions" value={bytes(store.size)} />
            <Figure name="Changed" value={age(store.updated_at, now)} />
          </dl>
        </>
      }
    >
      {mayWrite && (
        <ConfirmedAction
          name="Delete"
          label="Delete this store"
          question={`Delete ${store.name} with all its entries? Runs that are active find nothing there from then on.`}
          work={remove}
        />
      )}
    </ItemHead>
  );
}

/** Nothing that is there is replaced: a path that is taken is refused at its field. */
function NewEntry({ storeId }: { readonly storeId: string }) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  const create = async (fields: FormData) => {
    const path = toText(fields, 'path');
    const content = fields.get('content');
    const text = typeof content === 'string' ? content : '';
    await rondo.memoryStores.write(storeId, { path }, { content: text, if_version: 0 });
    await refreshKey(['memory', storeId]);
    await navigate({ to: '/agents/memory/$storeId', params: { storeId }, search: { path } });
  };
  return (
    <details className="new-file">
      <summary>New entry</summary>
      <Form work={create} button="Create" label="New entry" places={{ codes: { memory_entry_changed: 'path' } }}>
        <TextField label="Path" name="path" required placeholder="people/ann.md" spellCheck={false} />
        <AreaField label="Text" name="content" rows={4} />
      </Form>
    </details>
  );
}
