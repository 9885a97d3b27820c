import { type Run, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { shorten } from '../runs/run-title.ts';
import { type Scope, useMay, useRondo } from '../session/use-session.ts';
import { pages } from '../pages.ts';
import { Modal } from '../ui/modal.tsx';

const listId = 'palette-entries';

/** Goes to a page, a thread or a run by its name. */
export default function Palette({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal title="Go to" onClose={onClose}>
      {(close) => <Search close={close} />}
    </Modal>
  );
}

function Search({ close }: { readonly close: () => void }) {
  const navigate = useNavigate();
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState(0);
  const entries = useEntries();
  const found = useMemo(() => findEntries(entries, words), [entries, words]);
  const at = Math.min(chosen, found.length - 1);
  const go = (entry: Entry | undefined) => {
    if (!entry) return;
    close();
    void navigate({ to: entry.to });
  };
  const press = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    setChosen((at + by + found.length) % Math.max(1, found.length));
  };
  return (
    <form
      className="palette"
      onSubmit={(event) => {
        event.preventDefault();
        go(found[at]);
      }}
    >
      <input
        dir="auto"
        role="combobox"
        aria-label="Page, thread or run"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={found[at] && `${listId}-${at}`}
        placeholder="Page, thread or run"
        autoFocus
        value={words}
        onKeyDown={press}
        onChange={({ currentTarget }) => {
          setWords(currentTarget.value);
          setChosen(0);
        }}
      />
      <ul id={listId} role="listbox" aria-label="What was found">
        {found.map((entry, index) => (
          <li
            key={entry.to}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => go(entry)}
          >
            <span dir="auto">{entry.name}</span>
            <span className="hint">{entry.kind}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="hint">Nothing found.</p>}
    </form>
  );
}

/** The pages that the reader may see, and the newest threads and runs by what was asked. */
function useEntries(): readonly Entry[] {
  const rondo = useRondo();
  const may: Record<Scope, boolean> = {
    read: true,
    write: useMay('write'),
    admin: useMay('admin'),
    operator: useMay('operator'),
  };
  const { data } = useQuery({
    queryKey: ['runs', 'of the palette'],
    queryFn: () => take(rondo.runs.list({ limit: 100 }), 100),
  });
  const ofPages = pages.flatMap(({ to, name, scope }): Entry[] => (may[scope] ? [{ to, name, kind: 'Page' }] : []));
  const forNew: Entry[] = may.write ? [{ to: '/threads/new', name: 'New thread', kind: 'Page' }] : [];
  return [...forNew, ...ofPages, ...toEntries(data?.items ?? [])];
}

/** A thread has the name of its first run that is known. */
function toEntries(runs: readonly Run[]): Entry[] {
  const named = runs.flatMap((run) => {
    const title = run.metadata['title'] ?? (run.preview === null ? undefined : shorten(run.preview));
    return title === undefined ? [] : [{ run, name: title }];
  });
  const threads = new Map(
    named.map(({ run, name }): [string, Entry] => [
      run.thread_id,
      { to: `/threads/${run.thread_id}`, name, kind: 'Thread' },
    ]),
  );
  return [...threads.values(), ...named.map(({ run, name }): Entry => ({ to: `/runs/${run.id}`, name, kind: 'Run' }))];
}

/** Something to go to. */
export interface Entry {
  readonly to: string;
  readonly name: string;
  readonly kind: 'Page' | 'Thread' | 'Run';
}

const most = 12;

/** The entries that have all of these words, those whose name begins with them first. */
export function findEntries(entries: readonly Entry[], words: string): readonly Entry[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found = entries.filter(({ to, name, kind }) => {
    const text = `${kind} ${name} ${to}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const begins = ({ name }: Entry) => name.toLowerCase().startsWith(wanted.join(' '));
  return [...found.filter(begins), ...found.filter((entry) => !begins(entry))].slice(0, most);
}
