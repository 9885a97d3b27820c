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

/** Of conversations, their projects, and what is shared of them. */
export const threadExamples = {
  Project: project,
  NewProject: { name: 'Quarterly report', sandbox: 'project' },
  ProjectChange: { is_public: true },
  PublicProject: { id: ids.project, name: 'Quarterly report', created_at: at },
  PublicThread: { id: ids.thread, project_id: ids.project, created_at: at },
  PublicMessage: {
    id: ids.message,
    run_id: ids.run,
    seq: 1,
    type: 'user',
    content: [{ type: 'text', text: 'Write a small program and run it.' }],
    created_at: at,
  },
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
