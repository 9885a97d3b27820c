import type { Run } from '@rondo/client';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { statusWord } from '../ui/status.tsx';
import type { RunsSearch } from './runs-search.ts';

const route = getRouteApi('/runs');
const offered: readonly Run['status'][] = ['running', 'waiting_input', 'queued', 'completed', 'failed', 'stopped'];

/** Filters are links, so that the way back undoes them. */
export function RunFilters({ search }: { readonly search: RunsSearch }) {
  const navigate = route.useNavigate();
  const { status, thread, shown: _, ...others } = search;
  const withText = (text: string) =>
    void navigate({
      search: ({ text: _text, shown: _shown, ...kept }) => (text === '' ? kept : { ...kept, text }),
      replace: true,
    });
  return (
    <div className="filters">
      <nav aria-label="Status">
        <Filter isOn={status === undefined} to={others} name="All" />
        {offered.map((one) => (
          <Filter key={one} isOn={status === one} to={{ ...others, status: one }} name={statusWord(one)} />
        ))}
      </nav>
      {thread !== undefined && (
        <span className="chip">
          of thread <code>{thread}</code>{' '}
          <Link to="/runs" search={status ? { status } : {}} aria-label="Runs of all threads">
            ×
          </Link>
        </span>
      )}
      <input
        dir="auto"
        type="search"
        aria-label="Words of the input"
        placeholder="Words of the input"
        defaultValue={search.text}
        onChange={(event) => withText(event.currentTarget.value)}
      />
    </div>
  );
}

interface FilterProps {
  readonly isOn: boolean;
  readonly to: RunsSearch;
  readonly name: string;
}

function Filter({ isOn, to, name }: FilterProps) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isOn) link.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' }); // beside the edge on a phone
  }, [isOn]);
  return (
    <Link ref={link} to="/runs" search={to} aria-current={isOn ? 'true' : undefined} activeOptions={{ exact: true }}>
      {name}
    </Link>
  );
}
