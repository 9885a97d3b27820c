import type { AgentDefinition, Environment } from '@rondo/client';
import { AreaField, TextField } from '../ui/fields.tsx';
import { lines, withField } from './definition-edits.ts';

interface EnvironmentFieldsProps {
  readonly environment: AgentDefinition['environment'];
  readonly onChange: (environment: Environment | undefined) => void;
}

/** The repository, the image and the hosts of an agent's workspace. Files, packages and size are in the JSON. */
export function EnvironmentFields({ environment = {}, onChange }: EnvironmentFieldsProps) {
  const { repository, egress, image } = environment;
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
        <TextField
          label="Image of the sandbox"
          placeholder="the deployment’s own"
          spellCheck={false}
          value={image ?? ''}
          onChange={(event) => onChange(withField(environment, 'image', event.currentTarget.value.trim() || undefined))}
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
