import type { TriggeredRun } from '@rondo/client';
import { type ReactNode, useId, useState } from 'react';
import { AgentField } from '../ui/agent-field.tsx';
import { ModelOptions } from '../ui/run-choice.tsx';
import { AreaField, TextField } from '../ui/fields.tsx';

interface RunFieldsProps {
  readonly run: TriggeredRun | undefined;
  /** What the input may name. */
  readonly hint: ReactNode;
}

/** What the runs begin with. */
export function RunFields({ run, hint }: RunFieldsProps) {
  const list = useId();
  const [agentId, setAgentId] = useState(run?.agent_id ?? '');
  return (
    <>
      <AreaField label="What it is asked" name="input" rows={3} required hint={hint} defaultValue={run?.input} />
      <div className="fields">
        <AgentField name="agent_id" unchosen="the account's default" value={agentId} onChange={setAgentId} />
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
          name="budget.usd"
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
