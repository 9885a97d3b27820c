import type { StoredAccountSettings } from '@rondo/client';
import { ChoiceField, NumberField } from '../ui/fields.tsx';
import { withField, withMember } from './definition-edits.ts';
import { ModelAndProfile } from './model-and-profile.tsx';
import { listOthers } from './other-settings.ts';
import { ToolChoices } from './tool-choices.tsx';

export type AccountSettings = StoredAccountSettings['settings'];

interface SettingsFormProps {
  readonly settings: AccountSettings;
  readonly onChange: (settings: AccountSettings) => void;
}

type Part = 'limits' | 'budget' | 'llm' | 'context';

/** Numbers of the settings, with what they are and their unit. */
const numbers: readonly (readonly [part: Part, name: string, label: string])[] = [
  ['limits', 'max_iterations', 'Iterations of a run, at most'],
  ['limits', 'max_duration_s', 'Time of a run, at most, in seconds'],
  ['limits', 'tool_timeout_s', 'Time of a tool call, at most, in seconds'],
  ['limits', 'max_identical_calls', 'The same call in a row, at most'],
  ['limits', 'max_active_children', 'Runs at once below a run, at most'],
  ['limits', 'max_run_depth', 'Levels of runs below a run, at most'],
  ['budget', 'usd', 'Budget of a run, in USD'],
  ['budget', 'tokens', 'Budget of a run, in tokens'],
  ['llm', 'max_tokens', 'A reply of the model, at most, in tokens'],
  ['llm', 'temperature', 'Temperature'],
  ['context', 'token_threshold', 'Older messages are summarized from, in tokens'],
  ['context', 'summary_target_tokens', 'Length of a summary, in tokens'],
];
const shown = [
  'model',
  'profile',
  'interactive',
  'approval_expires_s',
  'tools',
  ...numbers.map(([part, name]) => `${part}.${name}`),
];

const yesOrNo = [
  ['', 'default'],
  ['true', 'yes'],
  ['false', 'no'],
] as const;

/** The settings that most accounts have, and what else is set. Empty fields mean what the deployment or a profile says. */
export function SettingsForm({ settings, onChange }: SettingsFormProps) {
  const change = <Name extends keyof AccountSettings>(name: Name, value: AccountSettings[Name] | undefined) =>
    onChange(withField(settings, name, value));
  return (
    <>
      <div className="fields">
        <ModelAndProfile chosen={settings} onChange={change} />
        <ChoiceField
          label="Runs may ask a person"
          name="interactive"
          options={yesOrNo}
          value={settings.interactive === undefined ? '' : String(settings.interactive)}
          onChange={({ currentTarget: { value } }) =>
            change('interactive', value === '' ? undefined : value === 'true')
          }
        />
        <NumberField
          placeholder="default"
          label="An approval expires after, in seconds"
          name="approval_expires_s"
          value={settings.approval_expires_s}
          onChange={(value) => change('approval_expires_s', value)}
        />
      </div>
      <Numbers settings={settings} onChange={onChange} />
      <ToolChoices tools={settings.tools} onChange={(tools) => change('tools', tools)} />
      <Others settings={settings} />
    </>
  );
}

/** The members of a part that are numbers. */
type Members = Readonly<Record<string, number>> | undefined;

function Numbers({ settings, onChange }: SettingsFormProps) {
  return (
    <div className="fields">
      {numbers.map(([part, name, label]) => {
        const members = settings[part] as Members; // those that the list names are
        return (
          <NumberField
            key={label}
            placeholder="default"
            label={label}
            name={`${part}.${name}`}
            value={members?.[name]}
            onChange={(value) => onChange(withField(settings, part, withMember(members, name, value)))}
          />
        );
      })}
    </div>
  );
}

/** What is set and has no field here. It is changed as JSON or YAML. */
function Others({ settings }: Pick<SettingsFormProps, 'settings'>) {
  const others = listOthers(settings, shown);
  if (others.length === 0) return null;
  return (
    <>
      <h2>Other settings</h2>
      <dl>
        {others.map(({ words, value }) => (
          <div key={words}>
            <dt>{words}</dt>
            <dd dir="auto">{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
