import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../session/use-session.ts';
import { TextField } from '../ui/fields.tsx';
import { Form, toText } from '../ui/form.tsx';
import { Modal } from '../ui/modal.tsx';
import { type RunsSearch, isFiltered } from '../searches.ts';
import { type SavedFilters, isSameSearch, keepSaved, readSaved, withSaved } from './saved-filters.ts';

/** The filters that were saved under a name, and the way to save those that are set. */
export function SavedFiltersBar({ search }: { readonly search: RunsSearch }) {
  const { account_id: accountId } = useSession().who;
  const [saved, setSaved] = useState(() => readSaved(accountId));
  const [isNaming, setNaming] = useState(false);
  const isKnown = saved.some((one) => isSameSearch(one.search, search));
  const keep = (changed: readonly SavedFilters[]) => {
    keepSaved(accountId, changed);
    setSaved(changed);
  };
  if (saved.length === 0 && !isFiltered(search)) return null;
  return (
    <nav className="saved-filters" aria-label="Saved filters">
      {saved.map((one) => (
        <span key={one.name} className="chip">
          <Link
            to="/runs"
            search={one.search}
            aria-current={isSameSearch(one.search, search) ? 'true' : undefined}
            activeOptions={{ exact: true }}
          >
            {one.name}
          </Link>
          <button
            className="quiet"
            aria-label={`Forget the filters ${one.name}`}
            onClick={() => keep(saved.filter((other) => other !== one))}
          >
            ×
          </button>
        </span>
      ))}
      {isFiltered(search) && !isKnown && (
        <button className="quiet" onClick={() => setNaming(true)}>
          Save these filters
        </button>
      )}
      {isNaming && (
        <Modal title="Save these filters" onClose={() => setNaming(false)}>
          {(close) => (
            <Form
              button="Save"
              cancel={close}
              work={(fields) => {
                keep(withSaved(saved, { name: toText(fields, 'name'), search }));
                close();
                return Promise.resolve();
              }}
            >
              <TextField label="Name" name="name" required maxLength={60} autoFocus hint="This browser keeps them." />
            </Form>
          )}
        </Modal>
      )}
    </nav>
  );
}
