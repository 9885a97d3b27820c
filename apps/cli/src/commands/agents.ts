import { readFile } from 'node:fs/promises';
import type { Agent } from '@rondo/client';
import { type Command, type Context, UsageError } from '../command';

const row = ({ id, version, is_default: isDefault, definition: { name, model = '' } }: Agent): string[] => [
  id,
  name,
  `${version}`,
  model,
  isDefault ? 'default' : '',
];

export const agentsList: Command = {
  name: 'agents ls',
  summary: 'List the stored agents, newest first',
  options: [{ name: 'search', value: 'TEXT', help: 'only those with this in their name' }],
  async run(given, { rondo, terminal }) {
    const search = given.value('search');
    const found: Agent[] = [];
    for await (const agent of rondo().agents.list(search === undefined ? {} : { search })) found.push(agent);
    if (terminal.isJson) for (const agent of found) terminal.json(agent);
    else terminal.table([['AGENT', 'NAME', 'VERSION', 'MODEL', ''], ...found.map(row)]);
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
    'One agent in each YAML document: `name`, `is_default` if wanted, and the fields of a definition. An agent that is not in ' +
    'the file stays. Each change makes a version.',
  async run(given, { rondo, terminal }) {
    const file = given.value('file');
    const text = file === undefined || file === '-' ? await terminal.piped() : await readFile(file, 'utf8');
    if (text === undefined) throw new UsageError('Give a file: rondo agents apply -f agents.yaml');
    const { agentsOf } = await import('../agent-file.ts');
    for (const { name, agent } of agentsOf(text)) {
      const applied = await rondo().agents.apply(name, agent);
      if (terminal.isJson) terminal.json(applied);
      else terminal.line(`${applied.id} ${name} version ${applied.version}${applied.is_default ? ' (default)' : ''}`);
    }
    return 'ok';
  },
};
