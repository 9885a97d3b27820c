import type { AgentDefinition, Environment } from '@rondo/client';
import { AreaField, TextField } from '../ui/fields.tsx';
import { lines, withField } from './definition-edits.ts';

interface EnvironmentFieldsProps {
  readonly environment: AgentDefinition['environment'];
  readonly onChange: (environment: Environment | undefined) => void;
}

/** The repository and the hosts of an agent's workspace. Its files are in the JSON. */
export function EnvironmentFields({ environment = {}, onChange }: EnvironmentFieldsProps) {
  const { repository, egress } = environment;
  const change = (name: 'url' | 'ref' | 'secret', value: string) => {
    const { url, ...others } = withField(repository ?? { url: '' }, name, value);
    onChange(withField(environment, 'repository', url ? { url, ...others } : undefined));
  };
  return (
    <>
      <div className="fields">
        <TextField
          label="Repository"
          placeholder="none"
          spellCheck={false}
          value={repository?.url ?? ''}
          onChange={(event) => change('url', event.currentTarget.value)}
        />
        <TextField
          label="Branch, tag or commit"
          placeholder="the default branch"
          spellCheck={false}
          disabled={repository === undefined}
          value={repository?.ref ?? ''}
          onChange={(event) => change('ref', event.currentTarget.value)}
        />
        <TextField
          label="Secret of the repository"
          placeholder="none"
          spellCheck={false}
          disabled={repository === undefined}
          value={repository?.secret ?? ''}
          onChange={(event) => change('secret', event.currentTarget.value)}
        />
      </div>
      <AreaField
        label="Hosts"
        hint="One a line. The sandbox reaches no others. Without any: all that the deployment allows."
        rows={2}
        spellCheck={false}
        value={(egress ?? []).join('\n')}
        onChange={(event) => onChange(withField(environment, 'egress', event.currentTarget.value.split('\n')))}
        onBlur={(event) => {
          const hosts = lines(event.currentTarget.value);
          onChange(withField(environment, 'egress', hosts.length > 0 ? hosts : undefined));
        }}
      />
    </>
  );
}
