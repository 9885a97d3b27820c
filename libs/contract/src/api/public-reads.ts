import { z } from 'zod';
import { contentBlock } from '../content';
import { messageId, projectId, runId, threadId } from '../ids';
import { imageMediaType } from '../image-header';
import { message } from '../message';
import { run } from '../run';
import { exampleIds as ids } from './example-ids';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';
import { llmMessageList } from './threads';

const time = z.iso.datetime();

const publicProject = z.object({ id: projectId, name: z.string(), created_at: time });

const publicThread = z.object({
  id: threadId,
  project_id: projectId.nullable().describe('Null where the project itself is not public.'),
  created_at: time,
});

const publicRun = z.object({
  ...run.pick({ id: true, thread_id: true, status: true, finish_reason: true, preview: true }).shape,
  ...run.pick({ created_at: true, started_at: true, finished_at: true }).shape,
});

const publicMessage = z.object({
  id: messageId,
  run_id: runId.nullable(),
  seq: message.shape.seq,
  type: message.shape.type,
  content: z.array(contentBlock),
  created_at: time,
});

const publicThreadPage = createPage(publicThread);
const publicMessagePage = createPage(publicMessage);

/**
 * What is shared, for everyone, with or without a key. Only reads: a route that changes something does not belong here. Every
 * answer is parsed, so that a field that its schema does not declare never leaves.
 */
export const publicReads = defineRoutes('public', {
  getPublicProject: {
    method: 'GET',
    path: '/v1/public/projects/{project_id}',
    summary: 'Read a public project',
    role: 'open',
    answers: { 200: { body: publicProject } },
  },
  listPublicThreads: {
    method: 'GET',
    path: '/v1/public/projects/{project_id}/threads',
    summary: 'List the threads of a public project, newest first',
    role: 'open',
    query: pageQuery,
    answers: { 200: { body: publicThreadPage } },
  },
  getPublicThread: {
    method: 'GET',
    path: '/v1/public/threads/{thread_id}',
    summary: 'Read a public thread',
    role: 'open',
    answers: { 200: { body: publicThread } },
  },
  listPublicMessages: {
    method: 'GET',
    path: '/v1/public/threads/{thread_id}/messages',
    summary: 'List the dialogue of a public thread in order',
    role: 'open',
    query: pageQuery,
    answers: { 200: { body: publicMessagePage } },
  },
  listPublicLlmMessages: {
    method: 'GET',
    path: '/v1/public/threads/{thread_id}/llm-messages',
    summary: "List the messages that the model of a public thread's next run would receive",
    role: 'open',
    answers: { 200: { body: llmMessageList } },
  },
  getPublicImage: {
    method: 'GET',
    path: '/v1/public/threads/{thread_id}/images/{sha256}',
    summary: 'Read the bytes of an image that a public thread shows',
    role: 'open',
    answers: { 200: { bytes: imageMediaType.options } },
  },
  getPublicRun: {
    method: 'GET',
    path: '/v1/public/runs/{run_id}',
    summary: 'Read a run of a public thread',
    role: 'open',
    answers: { 200: { body: publicRun } },
  },
});

const at = '2026-11-25T09:00:00.000Z';

export const publicReadSchemas: ApiSchemas = {
  answers: {
    PublicProject: publicProject,
    PublicThread: publicThread,
    PublicThreadPage: publicThreadPage,
    PublicRun: publicRun,
    PublicMessage: publicMessage,
    PublicMessagePage: publicMessagePage,
  },
  examples: {
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
  },
};
