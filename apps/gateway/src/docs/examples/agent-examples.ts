import { exampleIds as ids } from './example-ids';

const change = {
  description: 'Writes the notes of a release',
  model: 'openai/gpt-5',
  system_prompt: 'You write short release notes, one line for each change.',
  tools: ['execute_command', 'read_file'],
  limits: { max_iterations: 20 },
};
const definition = { name: 'release-notes', ...change };

const agent = {
  id: ids.agent,
  version: 2,
  latest_version: 2,
  is_default: false,
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-25T09:00:00.000Z',
  definition,
};

/** Of stored agents. */
export const agentExamples = {
  Agent: agent,
  NewAgent: { definition },
  AgentChange: { definition: { ...definition, model: 'anthropic/claude-sonnet-4-5' }, if_version: 2 },
  DeclaredAgent: { definition: change },
  VersionActivation: { if_version: 2 },
  AgentVersion: { version: 2, is_active: true, created_at: '2026-11-25T09:00:00.000Z', definition },
  AgentComparison: {
    from: 1,
    to: 2,
    changes: [{ op: 'replace', path: '/model', before: 'openai/gpt-5-mini', after: 'openai/gpt-5' }],
  },
  ThreadAgent: { source: 'thread', agent },
};
