import { readFile } from 'node:fs/promises';
import type { Agent, ListAgents } from '@rondo/client';
import { type Command, type Context, type Given, UsageError } from '../command';

const row = ({ id, version, is_default: isDefault, tags, definition }: Agent): string[] => [
  ...[id, definition.name, `${version}`, definition.model ?? ''],
  tags.join(', '),
  isDefault ? 'default' : '',
  Object.keys(definition.environment ?? {}).join(', '),
];

const sorts = ['name', 'created_at', 'updated_at'] as const;

/** What a list is asked for. Times sort the newest first. */
function toListQuery(given: Given): ListAgents {
  const [search, tag, wanted] = [given.value('search'), given.value('tag'), given.value('sort')];
  const sort = sorts.find((name) => name === wanted);
  if (wanted !== undefined && sort === undefined) throw new UsageError(`--sort is one of ${sorts.join(', ')}.`);
  return {
    ...(search !== undefined && { search }),
    ...(tag !== undefined && { tag }),
    ...(sort !== undefined && { sort }),
  };
}

export const agentsList: Command = {
  name: 'agents ls',
  summary: 'List the stored agents, newest first',
  options: [
    { name: 'search', value: 'TEXT', help: 'only those with this in their name' },
    { name: 'tag', value: 'TAG', help: 'only those with this tag, or with all of several: `a,b`' },
    { name: 'sort', value: 'FIELD', help: '`name`, `created_at` or `updated_at`' },
  ],
  async run(given, { rondo, terminal }) {
    const found: Agent[] = [];
    for await (const agent of rondo().agents.list(toListQuery(given))) found.push(agent);
    if (terminal.isJson) for (const agent of found) terminal.json(agent);
    else terminal.table([['AGENT', 'NAME', 'VERSION', 'MODEL', 'TAGS', '', 'ENVIRONMENT'], ...found.map(row)]);
    return 'ok';
  },
};

export async function agentNamed(name: string, { rondo }: Context): Promise<Agent> {
  if (name.startsWith('agt_')) return rondo().agents.get(name);
  for await (const agent of rondo().agents.list({ search: name })) if (agent.definition.name === name) return agent;
  throw new UsageError(`There is no agent ${name}. See: rondo agents ls`);
}

export const agentsShow: Command = {
  name: 'agents show',
  summary: 'Show a stored agent with its definition, as JSON',
  args: [{ name: 'AGENT|NAME' }],
  async run(given, context) {
    const agent = await agentNamed(given.args[0] ?? '', context);
    if (context.terminal.isJson) context.terminal.json(agent);
    else context.terminal.line(JSON.stringify(agent, null, 2));
    return 'ok';
  },
};

export const agentsApply: Command = {
  name: 'agents apply',
  summary: 'Make stored agents what a YAML file says; repeating it changes nothing',
  options: [{ name: 'file', short: 'f', value: 'FILE', help: 'the file; `-` or none: standard input' }],
  details:
    'One agent in each YAML document: `name`, `is_default`, `tags` and `note` if wanted, and the fields of a definition. An ' +
    'agent that is not in the file stays. Each change of a definition makes a version, which keeps the note.',
  async run(given, { rondo, terminal }) {
    const file = given.value('file');
    const text = file === undefined || file === '-' ? await terminal.readPiped() : await readFile(file, 'utf8');
    if (text === undefined) throw new UsageError('Give a file: rondo agents apply -f agents.yaml');
    const { listAgents } = await import('../agent-file.ts');
    for (const { name, agent } of listAgents(text)) {
      const applied = await rondo().agents.apply(name, agent);
      if (terminal.isJson) terminal.json(applied);
      else terminal.line(`${applied.id} ${name} version ${applied.version}${applied.is_default ? ' (default)' : ''}`);
    }
    return 'ok';
  },
};
