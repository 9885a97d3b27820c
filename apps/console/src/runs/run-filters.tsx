import { type Run, describeEnding } from '@rondo/client';
import { Link, getRouteApi } from '@tanstack/react-router';
import { type SubmitEvent, useEffect, useRef, useState } from 'react';
import { useProjects } from '../threads/use-projects.ts';
import { AgentField } from '../ui/agent-field.tsx';
import { ModelOptions } from '../ui/run-choice.tsx';
import { ChoiceField, SearchField, TextField } from '../ui/fields.tsx';
import { toText } from '../ui/form.tsx';
import { statusWord } from '../ui/status.tsx';
import { type RunsSearch, readRunsSearch } from '../searches.ts';
import { SavedFiltersBar } from './saved-filters-bar.tsx';

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
  const ofThread = thread === undefined ? {} : { thread };
  return (
    <>
      <div className="filters">
        <nav aria-label="Status">
          <Filter isOn={status === undefined} to={{ ...others, ...ofThread }} name="All" />
          {offered.map((one) => (
            <Filter
              key={one}
              isOn={status === one}
              to={{ ...others, ...ofThread, status: one }}
              name={statusWord(one)}
            />
          ))}
        </nav>
        {thread !== undefined && (
          <span className="chip">
            of thread <code>{thread}</code>{' '}
            <Link to="/runs" search={status ? { ...others, status } : others} aria-label="Runs of all threads">
              ×
            </Link>
          </span>
        )}
        <SearchField label="Words of the input" placeholder="Search inputs" value={search.text} search={withText} />
      </div>
      <SavedFiltersBar search={search} />
      <MoreFilters search={search} />
    </>
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

const more = ['agent', 'project', 'user', 'model', 'reason', 'key', 'value', 'from', 'before'] as const;

const reasons = (['budget_exceeded', 'max_iterations', 'loop_detected', 'length'] as const).map(
  (reason) => [reason, describeEnding({ status: 'completed', finish_reason: reason })?.word ?? reason] as const,
);

/** What is looked for less often, as a form. The address keeps it. */
function MoreFilters({ search }: { readonly search: RunsSearch }) {
  const navigate = route.useNavigate();
  const set = more.filter((name) => search[name] !== undefined);
  const filter = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const { status, thread, text } = search;
    const given = Object.fromEntries(more.map((name) => [name, toText(fields, name)]));
    void navigate({ search: readRunsSearch({ status, thread, text, ...given }) });
  };
  const { status, thread, text } = search;
  return (
    <details className="more-filters" open={set.length > 0}>
      <summary>{set.length > 0 ? `More filters, ${set.length} set` : 'More filters'}</summary>
      <form key={JSON.stringify(set.map((name) => search[name]))} onSubmit={filter} aria-label="More filters">
        <div className="fields">
          <AgentAndThreadFields search={search} />
          <ChoiceField
            label="Ended early"
            name="reason"
            options={[['', 'any'], ...reasons]}
            defaultValue={search.reason}
          />
          <TextField label="Metadata, name" name="key" spellCheck={false} defaultValue={search.key} />
          <TextField label="Metadata, value" name="value" spellCheck={false} defaultValue={search.value} />
          <TextField label="Created from" name="from" type="datetime-local" defaultValue={search.from} />
          <TextField label="Created before" name="before" type="datetime-local" defaultValue={search.before} />
        </div>
        <div className="actions">
          <button className="primary">Filter</button>
          {set.length > 0 && (
            <Link to="/runs" search={readRunsSearch({ status, thread, text })} className="button">
              Without these
            </Link>
          )}
        </div>
      </form>
    </details>
  );
}

function AgentAndThreadFields({ search }: { readonly search: RunsSearch }) {
  const [agentId, setAgentId] = useState(search.agent ?? '');
  const { projects, hasMore } = useProjects(search.project);
  return (
    <>
      <AgentField name="agent" unchosen="any" value={agentId} onChange={setAgentId} />
      <ChoiceField
        key={projects.length}
        label="Project"
        name="project"
        options={[['', 'any'], ...projects.map(({ id, name }) => [id, name] as const)]}
        hint={hasMore ? `The newest ${projects.length} projects.` : undefined}
        defaultValue={search.project}
      />
      <TextField label="User" name="user" spellCheck={false} defaultValue={search.user} />
      <TextField label="Model" name="model" list="models-of-runs" spellCheck={false} defaultValue={search.model} />
      <ModelOptions id="models-of-runs" />
    </>
  );
}
