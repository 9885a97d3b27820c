import type { AgentDefinition, Environment } from '@rondo/client';
import { listEnvironment } from '@rondo/react';
import { AreaField, ChoiceField, NumberField, TextField } from '../ui/fields.tsx';
import { lines, withField, withMember } from './definition-edits.ts';

interface EnvironmentFieldsProps {
  readonly environment: AgentDefinition['environment'];
  readonly onChange: (environment: Environment | undefined) => void;
}

interface PartProps {
  readonly environment: Environment;
  readonly onChange: (environment: Environment | undefined) => void;
}

/** What an agent's workspace has before a run begins, and what its sandbox is made of and may reach. */
export function EnvironmentFields({ environment = {}, onChange }: EnvironmentFieldsProps) {
  const named = listEnvironment(environment);
  const part = { environment, onChange };
  return (
    <details className="tools">
      <summary>Environment{named.length > 0 && `: ${named.join(', ')}`}</summary>
      <Repository {...part} />
      <Sandbox {...part} />
      <Packages {...part} />
      <Network {...part} />
      <Files {...part} />
    </details>
  );
}

function Repository({ environment, onChange }: PartProps) {
  const { repository } = environment;
  const change = (name: 'url' | 'ref' | 'secret' | 'path', value: string) => {
    const { url, ...others } = withField(repository ?? { url: '' }, name, value);
    onChange(withField(environment, 'repository', url ? { url, ...others } : undefined));
  };
  const field = (name: 'url' | 'ref' | 'secret' | 'path', label: string, placeholder: string) => (
    <TextField
      label={label}
      name={`environment.repository.${name}`}
      placeholder={placeholder}
      spellCheck={false}
      disabled={name !== 'url' && repository === undefined}
      value={repository?.[name] ?? ''}
      onChange={(event) => change(name, event.currentTarget.value)}
    />
  );
  return (
    <div className="fields">
      {field('url', 'Repository', 'none')}
      {field('ref', 'Branch, tag or commit', 'the default branch')}
      {field('secret', 'Secret of the repository', 'none')}
      {field('path', 'Folder of the repository', 'the last part of its URL')}
    </div>
  );
}

function Sandbox({ environment, onChange }: PartProps) {
  const { image, size } = environment;
  const limit = (name: 'cpus' | 'memory_mb' | 'disk_mb', label: string) => (
    <NumberField
      placeholder="default"
      label={label}
      name={`environment.size.${name}`}
      value={size?.[name]}
      onChange={(value) => onChange(withField(environment, 'size', withMember(size, name, value)))}
    />
  );
  return (
    <div className="fields">
      <TextField
        label="Image of the sandbox"
        name="environment.image"
        placeholder="default"
        spellCheck={false}
        value={image ?? ''}
        onChange={(event) => onChange(withField(environment, 'image', event.currentTarget.value.trim() || undefined))}
      />
      {limit('cpus', 'Processor cores')}
      {limit('memory_mb', 'Memory, MiB')}
      {limit('disk_mb', 'Disk of the workspace, MiB')}
    </div>
  );
}

const managers = [
  ['apt', 'hello=2.10-3'],
  ['pip', 'requests==2.32.3'],
  ['npm', 'semver@7.6.3'],
] as const;

function Packages({ environment, onChange }: PartProps) {
  const { packages = {} } = environment;
  const change = (manager: 'apt' | 'pip' | 'npm', names: string[]) =>
    onChange(withField(environment, 'packages', withField(packages, manager, names)));
  return (
    <div className="fields">
      {managers.map(([manager, example]) => (
        <AreaField
          key={manager}
          label={`Packages of ${manager}`}
          name={`environment.packages.${manager}`}
          hint="One per line, with its version."
          placeholder={example}
          rows={2}
          spellCheck={false}
          value={(packages[manager] ?? []).join('\n')}
          onChange={(event) => change(manager, event.currentTarget.value.split('\n'))}
          onBlur={(event) => change(manager, lines(event.currentTarget.value))}
        />
      ))}
    </div>
  );
}

const networks = [
  ['all', 'all that the deployment allows'],
  ['listed', 'only the hosts below'],
] as const;

/** An empty list is something else than none: then nothing is reached. */
function Network({ environment, onChange }: PartProps) {
  const { egress } = environment;
  const change = (hosts: string[]) => onChange({ ...environment, egress: hosts });
  return (
    <>
      <ChoiceField
        label="Hosts that the sandbox reaches"
        options={networks}
        value={egress === undefined ? 'all' : 'listed'}
        onChange={(event) =>
          event.currentTarget.value === 'listed' ? change([]) : onChange(withField(environment, 'egress', undefined))
        }
      />
      {egress !== undefined && (
        <AreaField
          label="Hosts"
          name="environment.egress"
          hint="One per line, for example example.com or *.example.com. Empty: no network access."
          rows={2}
          spellCheck={false}
          value={egress.join('\n')}
          onChange={(event) => change(event.currentTarget.value.split('\n'))}
          onBlur={(event) => change(lines(event.currentTarget.value))}
        />
      )}
    </>
  );
}

function Files({ environment, onChange }: PartProps) {
  const { files = [] } = environment;
  const change = (next: typeof files) => onChange(withField(environment, 'files', next));
  return (
    <>
      {files.map((file, place) => {
        const edit = (changed: Partial<typeof file>) => change(files.with(place, { ...file, ...changed }));
        return (
          <fieldset key={place}>
            <legend>File {place + 1} of the workspace</legend>
            <TextField
              label="Its path"
              name={`environment.files.${place}.path`}
              placeholder="notes/style.md"
              spellCheck={false}
              value={file.path}
              onChange={(event) => edit({ path: event.currentTarget.value })}
            />
            <AreaField
              label="Its text"
              name={`environment.files.${place}.content`}
              rows={3}
              value={file.content}
              onChange={(event) => edit({ content: event.currentTarget.value })}
            />
            <button type="button" onClick={() => change(files.toSpliced(place, 1))}>
              Remove file {place + 1}
            </button>
          </fieldset>
        );
      })}
      <button type="button" onClick={() => change([...files, { path: '', content: '' }])}>
        Add a file to the workspace
      </button>
    </>
  );
}
