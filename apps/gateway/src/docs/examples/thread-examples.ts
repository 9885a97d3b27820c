import { exampleIds as ids } from '@rondo/contract/api';

const at = '2026-11-25T09:00:00.000Z';

const project = {
  id: ids.project,
  name: 'Quarterly report',
  name_source: 'request',
  is_public: true,
  sandbox: 'project',
  created_at: at,
  updated_at: at,
};

const message = {
  id: ids.message,
  thread_id: ids.thread,
  run_id: ids.run,
  iteration: null,
  seq: 1,
  type: 'user',
  is_llm_message: true,
  content: [{ type: 'text', text: 'Write a small program and run it.' }],
  metadata: {},
  created_at: at,
};

const { id, run_id, seq, type, content } = message;

/** Of conversations, their projects, and what is shared of them. */
export const threadExamples = {
  Project: project,
  NewProject: { name: 'Quarterly report', sandbox: 'project' },
  ProjectChange: { is_public: true },
  PublicProject: { id: ids.project, name: 'Quarterly report', created_at: at },
  Thread: {
    id: ids.thread,
    agent_id: null,
    project_id: ids.project,
    is_public: false,
    metadata: { customer: 'c-7' },
    created_at: at,
  },
  NewThread: { project_id: ids.project, metadata: { customer: 'c-7' } },
  ThreadChange: { is_public: true },
  PublicThread: { id: ids.thread, project_id: ids.project, created_at: at },
  Message: message,
  LlmMessageList: {
    data: [
      { role: 'user', content },
      {
        role: 'assistant',
        content: [
          { type: 'tool_call', id: ids.call, name: 'execute_command', arguments: { command: 'python3 hello.py' } },
        ],
      },
      { role: 'tool', results: [{ tool_call_id: ids.call, text: 'Hello.', is_error: false }] },
      { role: 'assistant', content: [{ type: 'text', text: 'The program says hello.' }] },
    ],
  },
  NewMessage: { content: 'The figures are in euros.' },
  PublicMessage: { id, run_id, seq, type, content, created_at: at },
  PublicRun: {
    id: ids.run,
    thread_id: ids.thread,
    status: 'completed',
    finish_reason: 'stop',
    preview: 'Write a small program and run it.',
    created_at: at,
    started_at: '2026-11-25T09:00:00.120Z',
    finished_at: '2026-11-25T09:00:07.480Z',
  },
};
