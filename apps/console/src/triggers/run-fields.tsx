import { type TriggeredRun, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useId } from 'react';
import { useRondo } from '../session/use-session.ts';
import { ModelOptions } from '../threads/run-choice.tsx';
import { AreaField, ChoiceField, TextField } from '../ui/fields.tsx';

interface RunFieldsProps {
  readonly run: TriggeredRun | undefined;
  /** What the input may name. */
  readonly hint: ReactNode;
}

/** What the runs begin with. */
export function RunFields({ run, hint }: RunFieldsProps) {
  const rondo = useRondo();
  const list = useId();
  const { data: agents } = useQuery({
    queryKey: ['agents', 'names'],
    queryFn: () => take(rondo.agents.list({ limit: 100 }), 100),
    staleTime: 30_000,
  });
  const names = agents?.items.map(({ id, definition }) => [id, definition.name] as const) ?? [];
  return (
    <>
      <AreaField label="What it is asked" name="input" rows={3} required hint={hint} defaultValue={run?.input} />
      <div className="fields">
        <ChoiceField
          key={names.length}
          label="Agent"
          name="agent_id"
          options={[['', "the account's default"], ...names]}
          defaultValue={run?.agent_id ?? ''}
        />
        <TextField
          label="Model"
          name="model"
          list={list}
          placeholder="as the agent has it"
          spellCheck={false}
          defaultValue={run?.model}
        />
        <TextField
          label="Budget of each run, USD"
          name="usd"
          type="number"
          min={0}
          step="any"
          defaultValue={run?.budget?.usd}
        />
      </div>
      <ModelOptions id={list} />
    </>
  );
}
