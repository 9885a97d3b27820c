import { take } from '@rondo/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { ChoiceField } from './fields.tsx';

/** So many are offered at once; where there are more, they are found by their names. */
const offered = 100;

interface AgentFieldProps {
  /** In a form: under which it is sent. */
  readonly name?: string;
  readonly value: string;
  readonly onChange: (agentId: string) => void;
  /** What is said where none is chosen. */
  readonly unchosen: string;
}

/** One of the agents of the account, or none. */
export function AgentField({ value, onChange, unchosen, ...rest }: AgentFieldProps) {
  const { agents, finder } = useAgentChoice(value);
  return (
    <div>
      <ChoiceField
        {...rest}
        label="Agent"
        options={[['', unchosen], ...agents]}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      {finder}
    </div>
  );
}

interface AgentChoice {
  /** Ids and names. The chosen one is always among them. */
  readonly agents: readonly (readonly [id: string, name: string])[];
  /** What they are searched with, where not all are offered. */
  readonly finder: ReactNode;
}

/** What a choice of an agent offers: the newest ones, or those that are found. */
export function useAgentChoice(chosen: string): AgentChoice {
  const rondo = useRondo();
  const [text, setText] = useState('');
  const { data } = useQuery({
    queryKey: ['agents', 'offered', text],
    queryFn: () => take(rondo.agents.list({ limit: offered, ...(text !== '' && { search: text }) }), offered),
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  });
  const agents = data?.items.map(({ id, definition }) => [id, definition.name] as const) ?? [];
  const isFound = chosen === '' || agents.some(([id]) => id === chosen);
  const { data: other } = useQuery({
    queryKey: ['agents', 'chosen', chosen],
    queryFn: () => rondo.agents.get(chosen),
    enabled: data !== undefined && !isFound,
    staleTime: 30_000,
  });
  return {
    agents: isFound ? agents : [[chosen, other?.definition.name ?? chosen], ...agents],
    finder: (text !== '' || data?.hasMore === true) && (
      <input
        dir="auto"
        type="search"
        aria-label="Find an agent by its name"
        placeholder="Find an agent"
        spellCheck={false}
        onChange={({ currentTarget }) => setText(currentTarget.value.trim())}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()} // the form is not sent
      />
    ),
  };
}
