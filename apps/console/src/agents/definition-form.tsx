import type { AgentDefinition } from '@rondo/client';
import { AreaField, NumberField, TextField } from '../ui/fields.tsx';
import { withField, withMember } from './definition-edits.ts';
import { EnvironmentFields } from './environment-fields.tsx';
import { ModelAndProfile } from './model-and-profile.tsx';
import { ToolChoices } from './tool-choices.tsx';

interface DefinitionFormProps {
  readonly definition: AgentDefinition;
  readonly onChange: (definition: AgentDefinition) => void;
}

/** The settings that most agents have. Everything else is in the JSON, and stays as it is. */
export function DefinitionForm({ definition, onChange }: DefinitionFormProps) {
  const change = <Name extends keyof AgentDefinition>(name: Name, value: AgentDefinition[Name] | undefined) =>
    onChange(withField(definition, name, value));
  return (
    <>
      <div className="fields">
        <TextField
          label="Name"
          name="name"
          value={definition.name}
          required
          onChange={(event) => change('name', event.currentTarget.value)}
        />
        <TextField
          label="Description"
          name="description"
          value={definition.description ?? ''}
          onChange={(event) => change('description', event.currentTarget.value)}
        />
        <ModelAndProfile chosen={definition} onChange={change} />
      </div>
      <AreaField
        label="System prompt"
        name="system_prompt"
        rows={8}
        value={definition.system_prompt ?? ''}
        onChange={(event) => change('system_prompt', event.currentTarget.value)}
      />
      <Directives directives={definition.directives} onChange={(directives) => change('directives', directives)} />
      <Numbers definition={definition} onChange={onChange} />
      <EnvironmentFields
        environment={definition.environment}
        onChange={(environment) => change('environment', environment)}
      />
      <ToolChoices tools={definition.tools} onChange={(tools) => change('tools', tools)} />
    </>
  );
}

interface DirectivesProps {
  readonly directives: readonly string[] | undefined;
  readonly onChange: (directives: string[]) => void;
}

function Directives({ directives = [], onChange }: DirectivesProps) {
  return (
    <AreaField
      label="Directives"
      name="directives"
      hint="One per line. They follow the system prompt."
      rows={3}
      value={directives.join('\n')}
      onChange={(event) => onChange(event.currentTarget.value.split('\n'))}
      onBlur={() => onChange(directives.filter((directive) => directive.trim() !== ''))}
    />
  );
}

/** The limits, and the budget. */
function Numbers({ definition, onChange }: DefinitionFormProps) {
  const { limits, budget, llm } = definition;
  return (
    <div className="fields">
      <NumberField
        placeholder="default"
        label="Max iterations"
        name="limits.max_iterations"
        value={limits?.max_iterations}
        onChange={(value) => onChange(withField(definition, 'limits', withMember(limits, 'max_iterations', value)))}
      />
      <NumberField
        placeholder="default"
        label="Max seconds"
        name="limits.max_duration_s"
        value={limits?.max_duration_s}
        onChange={(value) => onChange(withField(definition, 'limits', withMember(limits, 'max_duration_s', value)))}
      />
      <NumberField
        placeholder="default"
        label="Budget of a run, USD"
        name="budget.usd"
        value={budget?.usd}
        onChange={(value) => onChange(withField(definition, 'budget', withMember(budget, 'usd', value)))}
      />
      <NumberField
        placeholder="default"
        label="Temperature"
        name="llm.temperature"
        value={llm?.temperature}
        onChange={(value) => onChange(withField(definition, 'llm', withMember(llm, 'temperature', value)))}
      />
    </div>
  );
}
