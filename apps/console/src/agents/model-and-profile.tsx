import type { AgentDefinition } from '@rondo/client';
import { ModelOptions } from '../ui/run-choice.tsx';
import { ChoiceField, TextField } from '../ui/fields.tsx';

const profiles = [
  ['', 'default'],
  ['suna', 'suna'],
  ['ii', 'ii'],
  ['symphony', 'symphony'],
] as const;

type Chosen = Pick<AgentDefinition, 'model' | 'profile'>;

interface ModelAndProfileProps {
  readonly chosen: Chosen;
  readonly onChange: <Name extends keyof Chosen>(name: Name, value: Chosen[Name] | undefined) => void;
}

/** Of an agent, or of all runs of an account. Any model of a known provider; the known ones are offered. */
export function ModelAndProfile({ chosen: { model, profile }, onChange }: ModelAndProfileProps) {
  return (
    <>
      <TextField
        label="Model"
        name="model"
        list="models-of-definition"
        placeholder="default"
        spellCheck={false}
        value={model ?? ''}
        onChange={({ currentTarget }) => onChange('model', currentTarget.value)}
      />
      <ModelOptions id="models-of-definition" />
      <ChoiceField
        label="Profile"
        name="profile"
        options={profiles}
        value={profile ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onChange('profile', profiles.find(([name]) => name === value)?.[0] || undefined)
        }
      />
    </>
  );
}
