import type { NewRun } from '@rondo/client';
import { useId } from 'react';
import { withField, withMember } from '../agents/definition-edits.ts';
import { ToolChoices } from '../agents/tool-choices.tsx';
import { AgentField } from '../ui/agent-field.tsx';
import { ModelOptions } from '../ui/run-choice.tsx';
import { AreaField, NumberField, TextField } from '../ui/fields.tsx';
import { parseMetadata, printMetadata } from './run-request.ts';

interface NewRunFormProps {
  readonly request: NewRun;
  readonly onChange: (request: NewRun) => void;
}

/** What most runs are given. Everything else is in the JSON, and stays as it is. */
export function NewRunForm({ request, onChange }: NewRunFormProps) {
  const { input } = request;
  const change = <Name extends keyof NewRun>(name: Name, value: NewRun[Name] | undefined) =>
    onChange(withField(request, name, value));
  return (
    <>
      {typeof input === 'object' ? (
        <p className="hint">The prompt has parts that are no text: they are in the JSON.</p>
      ) : (
        <AreaField
          label="Prompt"
          name="input"
          rows={6}
          autoFocus={!(document.activeElement instanceof HTMLTextAreaElement)} // who corrects the JSON stays there
          value={input ?? ''}
          onChange={({ currentTarget }) => change('input', currentTarget.value)}
        />
      )}
      <div className="fields">
        <AgentField
          name="agent_id"
          unchosen="The default of the account"
          value={request.agent_id ?? ''}
          onChange={(agentId) => onChange(withField(request, 'agent_id', agentId))}
        />
        <ModelField value={request.model ?? ''} onChange={(model) => change('model', model)} />
      </div>
      <Limits request={request} onChange={onChange} />
      <ToolChoices tools={request.tools} onChange={(tools) => change('tools', tools)} />
      <Metadata value={request.metadata} onChange={(metadata) => change('metadata', metadata)} />
    </>
  );
}

interface ModelFieldProps {
  readonly value: string;
  readonly onChange: (model: string) => void;
}

/** Any model of a provider of this deployment; those that it knows are offered. */
function ModelField({ value, onChange }: ModelFieldProps) {
  const list = useId();
  return (
    <div>
      <TextField
        label="Model"
        name="model"
        list={list}
        spellCheck={false}
        placeholder="default"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <ModelOptions id={list} />
    </div>
  );
}

/** The limits, and the budget. */
function Limits({ request, onChange }: NewRunFormProps) {
  const { limits, budget } = request;
  const limit = (name: 'max_iterations' | 'max_duration_s') => (value: number | undefined) =>
    onChange(withField(request, 'limits', withMember(limits, name, value)));
  const amount = (name: 'usd' | 'tokens') => (value: number | undefined) =>
    onChange(withField(request, 'budget', withMember(budget, name, value)));
  return (
    <div className="fields">
      <NumberField
        placeholder="default"
        label="Max iterations"
        name="limits.max_iterations"
        value={limits?.max_iterations}
        onChange={limit('max_iterations')}
      />
      <NumberField
        placeholder="default"
        label="Max seconds"
        name="limits.max_duration_s"
        value={limits?.max_duration_s}
        onChange={limit('max_duration_s')}
      />
      <NumberField
        placeholder="default"
        label="Budget, USD"
        name="budget.usd"
        value={budget?.usd}
        onChange={amount('usd')}
      />
      <NumberField
        placeholder="default"
        label="Budget, tokens"
        name="budget.tokens"
        value={budget?.tokens}
        onChange={amount('tokens')}
      />
    </div>
  );
}

interface MetadataProps {
  readonly value: NewRun['metadata'];
  readonly onChange: (value: NewRun['metadata']) => void;
}

/** It is read when the field is left, so that a name can be typed before its value. */
function Metadata({ value, onChange }: MetadataProps) {
  const printed = printMetadata(value);
  return (
    <AreaField
      key={printed}
      label="Metadata"
      name="metadata"
      hint="One name: value per line. Runs can be searched by it."
      rows={2}
      spellCheck={false}
      defaultValue={printed}
      onBlur={({ currentTarget: { value: text } }) => text !== printed && onChange(parseMetadata(text))}
    />
  );
}
