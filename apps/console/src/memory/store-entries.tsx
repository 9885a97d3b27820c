import { type MemoryVersion, take } from '@rondo/client';
import { plainText } from '@rondo/react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { bytes } from '../ui/amounts.ts';
import { SearchField } from '../ui/fields.tsx';
import { Failure, Loading } from '../ui/states.tsx';

const route = getRouteApi('/agents/memory/$storeId');
const pageSize = 100;

interface StoreEntriesProps {
  readonly storeId: string;
  /** What was searched for. */
  readonly words: string | undefined;
  /** The path of the entry that is open. */
  readonly shown: string | undefined;
}

/** The entries of a store by their paths, or those that have the words, the best first. */
export function StoreEntries({ storeId, words, shown }: StoreEntriesProps) {
  const [most, setMost] = useState(pageSize);
  const { data, error, refetch } = useEntries({ storeId, words, most });
  return (
    <>
      <WordSearch words={words} />
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading what="its entries" />}
      {data?.items.length === 0 && (
        <p className="hint">{words === undefined ? 'There is no entry yet.' : 'No entry has these words.'}</p>
      )}
      <ul className="files" aria-label={words === undefined ? 'Entries by path' : 'Entries that were found'}>
        {data?.items.map((entry) => (
          <EntryItem key={entry.path} storeId={storeId} entry={entry} isShown={entry.path === shown} />
        ))}
      </ul>
      {data?.hasMore === true && <button onClick={() => setMost(most + pageSize)}>Show more entries</button>}
    </>
  );
}

interface ListedEntry extends MemoryVersion {
  /** Where the words are. */
  readonly excerpt?: string;
}

interface Wanted extends Pick<StoreEntriesProps, 'storeId' | 'words'> {
  readonly most: number;
}

function useEntries({ storeId, words, most }: Wanted) {
  const { memoryStores } = useRondo();
  return useQuery({
    queryKey: ['memory', storeId, 'entries', words, most],
    queryFn: ({ signal }): Promise<{ items: readonly ListedEntry[]; hasMore: boolean }> =>
      words === undefined
        ? take(memoryStores.entries(storeId, { limit: pageSize }), most)
        : memoryStores.search(storeId, { query: words }, { signal }).then((items) => ({ items, hasMore: false })),
    placeholderData: keepPreviousData,
  });
}

function WordSearch({ words }: Pick<StoreEntriesProps, 'words'>) {
  const navigate = route.useNavigate();
  const search = (text: string) =>
    void navigate({
      search: ({ words: _, ...open }) => (text === '' ? open : { ...open, words: text }),
      replace: true,
      resetScroll: false,
    });
  return <SearchField label="Words of entries" placeholder="Search the entries" value={words} search={search} />;
}

interface EntryItemProps {
  readonly storeId: string;
  readonly entry: ListedEntry;
  readonly isShown: boolean;
}

function EntryItem({ storeId, entry: { path, size, version, excerpt }, isShown }: EntryItemProps) {
  return (
    <li>
      <Link
        to="/agents/memory/$storeId"
        params={{ storeId }}
        search={({ words }) => ({ path, ...(words !== undefined && { words }) })}
        resetScroll={false}
        aria-current={isShown ? 'true' : undefined}
        dir="auto"
      >
        {plainText(path)}
      </Link>
      <span className="hint">
        {bytes(size)}, version {version}
      </span>
      {excerpt !== undefined && (
        <p className="hint" dir="auto">
          {plainText(excerpt)}
        </p>
      )}
    </li>
  );
}
