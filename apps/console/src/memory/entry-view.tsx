import { type MemoryEntry, RondoError, take } from '@rondo/client';
import { plainText } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { FileEditor } from '../sandboxes/file-editor.tsx';
import { ShownFile } from '../sandboxes/shown-file.tsx';
import { useMay, useRondo } from '../session/use-session.ts';
import { bytes } from '../ui/amounts.ts';
import { ConfirmedAction } from '../ui/confirmed-action.tsx';
import { hasNothing } from '../ui/problem-text.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';
import { EntryVersions } from './entry-versions.tsx';

interface EntryAddress {
  readonly storeId: string;
  readonly path: string;
}

interface EntryViewProps extends EntryAddress {
  /** Absent: the newest. */
  readonly version: number | undefined;
}

/** A text that is written, over the version that its writer knows. */
interface Draft {
  readonly over: Pick<MemoryEntry, 'version' | 'content'>;
  readonly text: string;
}

const didChange = (error: unknown): error is RondoError =>
  error instanceof RondoError && error.code === 'memory_entry_changed';

/** An entry as it is, or was: its text, and its versions. The newest one can be edited. */
export function EntryView({ storeId, path, version }: EntryViewProps) {
  const { data, error, refetch } = useEntry({ storeId, path, version });
  const [draft, setDraft] = useState<Draft | null>(null);
  const save = useSave({ storeId, path }, setDraft);
  if (draft === null && hasNothing(error, data)) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="the entry" />;
  const { entry, versions } = data;
  const isNewest = entry.version === versions[0]?.version;
  return (
    <section className="file" aria-label={plainText(path)}>
      <header>
        <h2 dir="auto">
          <code>{plainText(path)}</code>
        </h2>
        <span className="hint">
          {bytes(entry.size)}, version {entry.version}
          {!isNewest && ', which is not the newest'}
        </span>
        {isNewest && (
          <EntryActions
            storeId={storeId}
            entry={entry}
            edit={draft === null ? () => setDraft({ over: entry, text: entry.content }) : undefined}
          />
        )}
      </header>
      {draft === null ? (
        <ShownFile content={{ kind: 'text', text: entry.content }} path={path} />
      ) : (
        <FileEditor
          path={path}
          before={draft.over.content}
          text={draft.text}
          onChange={(text) => setDraft(text === null ? null : { ...draft, text })}
          save={() => save(draft)}
        />
      )}
      <EntryVersions storeId={storeId} versions={versions} shown={entry.version} />
    </section>
  );
}

function useEntry({ storeId, path, version }: EntryViewProps) {
  const { memoryStores } = useRondo();
  return useQuery({
    queryKey: ['memory', storeId, 'entry', path, version],
    queryFn: async ({ signal }) => {
      const [entry, versions] = await Promise.all([
        memoryStores.read(storeId, version === undefined ? { path } : { path, version }, { signal }),
        take(memoryStores.versions(storeId, { path, limit: 100 }), 100),
      ]);
      return { entry, versions: versions.items };
    },
  });
}

/** Where someone else wrote meanwhile, the draft stays, over what is there now: its writer sees what another save would change. */
function useSave({ storeId, path }: EntryAddress, setDraft: (change: (draft: Draft | null) => Draft | null) => void) {
  const { memoryStores } = useRondo();
  const refreshKey = useRefreshKey();
  const readNewest = async (): Promise<Draft['over']> => {
    try {
      return await memoryStores.read(storeId, { path });
    } catch (error) {
      if (error instanceof RondoError && error.code === 'memory_entry_not_found') return { version: 0, content: '' };
      throw error;
    }
  };
  return async ({ over, text }: Draft): Promise<void> => {
    let written: MemoryEntry;
    try {
      written = await memoryStores.write(storeId, { path }, { content: text, if_version: over.version });
    } catch (error) {
      if (!didChange(error)) throw error;
      const [newest] = await Promise.all([readNewest(), refreshKey(['memory', storeId])]);
      setDraft((draft) => draft && { ...draft, over: newest });
      const what = `${error.message} Your text is still here; saved again, it replaces what is there now.`;
      throw new Error(what, { cause: error });
    }
    await refreshKey(['memory', storeId]);
    setDraft((now) => (now === null || now.text === text ? null : { ...now, over: written })); // it was written on meanwhile
  };
}

interface EntryActionsProps {
  readonly storeId: string;
  /** The newest version. */
  readonly entry: MemoryEntry;
  /** Absent: it is edited. */
  readonly edit: (() => void) | undefined;
}

function EntryActions({ storeId, entry: { path, version }, edit }: EntryActionsProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const navigate = useNavigate();
  if (!useMay('write')) return null;
  const remove = async () => {
    try {
      await rondo.memoryStores.forget(storeId, { path, if_version: version });
    } catch (error) {
      if (didChange(error)) await refreshKey(['memory', storeId]);
      throw error;
    }
    await navigate({ to: '/agents/memory/$storeId', params: { storeId }, search: {} });
    await refreshKey(['memory', storeId]);
  };
  return (
    <span className="file-actions">
      {edit && <button onClick={edit}>Edit</button>}
      <ConfirmedAction
        name="Delete"
        label={`Delete ${plainText(path)}`}
        question={`Delete ${plainText(path)} with all its versions?`}
        work={remove}
      />
    </span>
  );
}
