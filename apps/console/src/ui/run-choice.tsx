import { take } from '@rondo/client';
import type { RunFields } from '@rondo/react';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { useRondo } from '../session/use-session.ts';
import { useAgentChoice } from './agent-field.tsx';

/** What a run begins with; empty where the thread, the account or the deployment decides. */
export interface RunChoice {
  readonly agentId: string;
  readonly model: string;
}

export const noChoice: RunChoice = { agentId: '', model: '' };

export const toRunFields = ({ agentId, model }: RunChoice): RunFields => ({
  ...(agentId !== '' && { agent_id: agentId }),
  ...(model.trim() !== '' && { model: model.trim() }),
});

interface RunChoiceFieldsProps {
  readonly choice: RunChoice;
  readonly onChange: (choice: RunChoice) => void;
  /** What is said where no agent is chosen. */
  readonly unchosen: string;
}

export function RunChoiceFields({ choice, onChange, unchosen }: RunChoiceFieldsProps) {
  const { agents, finder } = useAgentChoice(choice.agentId);
  return (
    <>
      {agents.length > 0 && (
        <select
          aria-label="Agent"
          value={choice.agentId}
          onChange={({ currentTarget }) => onChange({ ...choice, agentId: currentTarget.value })}
        >
          <option value="">{unchosen}</option>
          {agents.map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {finder}
      <ModelField value={choice.model} onChange={(model) => onChange({ ...choice, model })} />
    </>
  );
}

/** Any model of a known provider; the known ones are offered. */
function ModelField({ value, onChange }: { readonly value: string; readonly onChange: (model: string) => void }) {
  const list = useId();
  return (
    <>
      <input
        dir="auto"
        aria-label="Model"
        placeholder="Default model"
        list={list}
        spellCheck={false}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <ModelOptions id={list} />
    </>
  );
}

/** The known models, for a field whose `list` is this id. */
export function ModelOptions({ id }: { readonly id: string }) {
  const models = useModels();
  return (
    <datalist id={id}>
      {models.map((model) => (
        <option key={model} value={model} />
      ))}
    </datalist>
  );
}

/** The names of the known models. */
export function useModels(): readonly string[] {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['models'],
    queryFn: () => take(rondo.models(), 300),
    staleTime: 300_000,
  });
  return data?.items.map(({ id }) => id) ?? [];
}
