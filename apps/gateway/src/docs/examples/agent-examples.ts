import { exampleIds as ids } from '@rondo/contract/api';

const change = {
  description: 'Writes the notes of a release',
  model: 'openai/gpt-5',
  system_prompt: 'You write short release notes, one line for each change.',
  tools: ['execute_command', 'read_file'],
  limits: { max_iterations: 20 },
};
const note = 'A larger model, for longer notes';
const definition = { name: 'release-notes', ...change };

const agent = {
  id: ids.agent,
  version: 2,
  latest_version: 2,
  is_default: false,
  tags: ['releases', 'writing'],
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-25T09:00:00.000Z',
  definition,
};

/** Of stored agents. */
export const agentExamples = {
  Agent: agent,
  NewAgent: { definition, tags: ['releases', 'writing'], note: 'The first one' },
  AgentChange: {
    definition: { ...definition, model: 'anthropic/claude-sonnet-4-5' },
    note: 'Tries another model',
    if_version: 2,
  },
  DeclaredAgent: { definition: change, tags: ['releases', 'writing'] },
  VersionActivation: { if_version: 2 },
  AgentVersion: { version: 2, is_active: true, note, created_at: '2026-11-25T09:00:00.000Z', definition },
  VersionChange: { note },
  AgentComparison: {
    from: 1,
    to: 2,
    from_note: null,
    to_note: note,
    changes: [{ op: 'replace', path: '/model', before: 'openai/gpt-5-mini', after: 'openai/gpt-5' }],
  },
  ThreadAgent: { source: 'thread', agent },
};
