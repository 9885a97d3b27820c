import { z } from 'zod';
import { sortOrder } from '../agent';
import { contentBlock, inputBlock, inputContent, userContent } from '../content';
import { endUser } from '../end-user';
import { agentId, callId, projectId, runId, threadId } from '../ids';
import { givenSource, keptImage, keptSource } from '../image';
import { imageMediaType } from '../image-header';
import { message, messageType } from '../message';
import { finishReason, runStatus } from '../run';
import { exampleIds as ids } from './example-ids';
import { isWholeMetadata, metadata, metadataQuery, notWholeMetadata } from './metadata';
import { nameOptions } from './option-names';
import { createPage, pageQuery, searchedWords } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const longestTitle = 200;

/** The run of a thread that was created last, as much of it as a list shows. One whose message another run has read is none. */
const newestRun = z.object({
  id: runId,
  status: runStatus,
  finish_reason: finishReason.nullable(),
  model: z.string(),
  agent_name: z.string().nullable().describe('Of the stored agent that it began with.'),
  created_at: z.iso.datetime(),
});

const thread = z.object({
  id: threadId,
  title: z.string().nullable().optional().describe('The name that it was given. Null: none.'),
  preview: z.string().nullable().optional().describe('The first words of its first question. Null without one.'),
  newest_run: newestRun.nullable().optional().describe('Null: no run has begun on it.'),
  agent_id: agentId.nullable(),
  project_id: projectId.nullable(),
  user: endUser.nullable().optional().describe('The person that it is of. Null: none was named. It stays the same.'),
  is_public: z.boolean(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: z.iso.datetime(),
  updated_at: z.iso
    .datetime()
    .optional()
    .describe('When its title, its metadata or its sharing was last changed. Messages and runs do not count.'),
});

const title = z.string().trim().min(1).max(longestTitle);

const newThread = z.strictObject({
  title: title.optional(),
  agent_id: agentId.optional().describe('The stored agent that its runs begin with, unless they name one.'),
  project_id: projectId.optional().describe('The project that it belongs to, for good.'),
  user: endUser
    .optional()
    .describe(
      'The person that it is of, as you name them. All its runs are of the same one. Where this is absent, `metadata.user` counts.',
    ),
  metadata: metadata.default({}),
});

const threadChange = z
  .strictObject({
    title: title.nullable().optional().describe('Its name in lists. Null removes it.'),
    is_public: z
      .boolean()
      .optional()
      .describe(
        'Whether everyone who knows an id can read it and its runs, without a key. Nothing else becomes readable.',
      ),
    metadata: metadata.optional().describe('Replaces all of it. `metadata.user` names no person here.'),
  })
  .refine((change) => Object.values(change).some((given) => given !== undefined), {
    path: ['title'],
    message: 'give title, is_public or metadata',
  });

const threadQuery = pageQuery
  .extend({
    project_id: projectId.optional(),
    user: endUser.optional().describe('Those of this person.'),
    q: searchedWords.describe('Words that its title or the input of one of its runs has, written as for runs.'),
    ...metadataQuery,
  })
  .refine(isWholeMetadata, notWholeMetadata);

const newMessage = z.strictObject({ content: inputContent });

const messageQuery = pageQuery.extend({
  type: messageType.optional(),
  llm_only: z
    .enum(['true', 'false'])
    .transform((answer) => answer === 'true')
    .optional()
    .describe('Only messages that reach the model.'),
  order: sortOrder.default('asc').describe('`desc`: the newest first.'),
});

const threadPage = createPage(thread);
const messagePage = createPage(message);

const [textBlock] = contentBlock.options;

const llmToolCall = z.strictObject({
  type: z.literal('tool_call'),
  id: callId,
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
});

const llmToolResult = z.strictObject({
  tool_call_id: callId,
  text: z.string(),
  is_error: z.boolean(),
  image: keptSource.exactOptional(),
});

const llmUserMessage = z.strictObject({ role: z.literal('user'), content: userContent });

const llmAssistantMessage = z.strictObject({
  role: z.literal('assistant'),
  content: z.array(z.discriminatedUnion('type', [textBlock, llmToolCall])),
});

const llmToolMessage = z.strictObject({
  role: z.literal('tool'),
  results: z.array(llmToolResult).describe('Of all calls of the message before, in their order.'),
});

const llmMessage = z.discriminatedUnion('role', [llmUserMessage, llmAssistantMessage, llmToolMessage]);

/** What the model of a thread's next run would receive. */
export const llmMessageList = z.object({ data: z.array(llmMessage) });

export const threads = defineRoutes('threads', {
  createThread: {
    method: 'POST',
    path: '/v1/threads',
    client: 'send',
    summary: 'Create a thread',
    body: newThread,
    answers: { 201: { body: thread, location: '/v1/threads/{id}' } },
    problems: ['agent_not_found', 'project_not_found', 'quota_exceeded'],
  },
  listThreads: {
    method: 'GET',
    path: '/v1/threads',
    client: 'read',
    summary: 'List threads, newest first',
    query: threadQuery,
    answers: { 200: { body: threadPage } },
  },
  getThread: {
    method: 'GET',
    path: '/v1/threads/{thread_id}',
    client: 'read',
    summary: 'Read a thread',
    answers: { 200: { body: thread } },
  },
  updateThread: {
    method: 'PATCH',
    path: '/v1/threads/{thread_id}',
    summary: 'Rename a thread, replace its metadata, share it, or end its sharing',
    audit: 'thread.change',
    body: threadChange,
    answers: { 200: { body: thread } },
  },
  deleteThread: {
    method: 'DELETE',
    path: '/v1/threads/{thread_id}',
    summary: 'Delete a thread that has no active run, with its runs, messages, images and workspace',
    description: 'It is inaccessible at once; its data is deleted soon after.',
    audit: 'thread.delete',
    answers: { 204: {} },
    problems: ['thread_busy'],
  },
  createMessage: {
    method: 'POST',
    path: '/v1/threads/{thread_id}/messages',
    client: 'send',
    summary: "Add a user message, which the thread's next run reads",
    body: newMessage,
    answers: { 201: { body: message, isParsed: false } },
    problems: ['quota_exceeded', 'thread_full'],
  },
  listMessages: {
    method: 'GET',
    path: '/v1/threads/{thread_id}/messages',
    client: 'read',
    summary: 'List messages in thread order, or the newest first',
    query: messageQuery,
    answers: { 200: { body: messagePage, isParsed: false } },
  },
  listLlmMessages: {
    method: 'GET',
    path: '/v1/threads/{thread_id}/llm-messages',
    summary: "List the messages that the model of the thread's next run would receive",
    description:
      'Roles, tool calls and their results, from the newest summary on, without what is only shown to people. The system prompt ' +
      'and the input of the run are not among them. A run may send them otherwise: with a text dialect, with other context ' +
      'settings, or compacted for its model.',
    answers: { 200: { body: llmMessageList, isParsed: false } },
  },
  getBlob: {
    method: 'GET',
    path: '/v1/blobs/{sha256}',
    client: 'read',
    summary: 'Read the bytes of an image that a message or a result refers to',
    answers: { 200: { bytes: imageMediaType.options } },
  },
});

const at = '2026-11-25T09:00:00.000Z';

const content = [{ type: 'text', text: 'Write a small program and run it.' }];

export const threadSchemas: ApiSchemas = {
  requests: {
    NewThread: newThread,
    ThreadChange: threadChange,
    NewMessage: newMessage,
    InputContent: inputContent,
    InputBlock: inputBlock,
    ...nameOptions(inputBlock.options, 'InputBlock'),
    InputImageSource: givenSource,
    ...nameOptions(givenSource.options, 'InputImageSource'),
  },
  answers: {
    Thread: thread,
    ThreadNewestRun: newestRun,
    ThreadPage: threadPage,
    Message: message,
    MessagePage: messagePage,
    MessageType: messageType,
    ContentBlock: contentBlock,
    ...nameOptions(contentBlock.options, 'Block'),
    ImageSource: keptSource,
    ...nameOptions(keptSource.options, 'ImageSource'),
    Image: keptImage,
    LlmMessage: llmMessage,
    LlmUserMessage: llmUserMessage,
    LlmAssistantMessage: llmAssistantMessage,
    LlmToolMessage: llmToolMessage,
    LlmToolCall: llmToolCall,
    LlmToolResult: llmToolResult,
    LlmMessageList: llmMessageList,
  },
  examples: {
    Thread: {
      id: ids.thread,
      title: null,
      preview: 'Write a small program and run it.',
      newest_run: {
        id: ids.run,
        status: 'completed',
        finish_reason: 'stop',
        model: 'openai/gpt-5',
        agent_name: null,
        created_at: at,
      },
      agent_id: null,
      project_id: ids.project,
      user: 'user-4711',
      is_public: false,
      metadata: { customer: 'c-7' },
      created_at: at,
      updated_at: at,
    },
    NewThread: { project_id: ids.project, user: 'user-4711', metadata: { customer: 'c-7' } },
    ThreadChange: { title: 'The small program', is_public: true, metadata: { customer: 'c-8' } },
    Message: {
      id: ids.message,
      thread_id: ids.thread,
      run_id: ids.run,
      iteration: null,
      seq: 1,
      type: 'user',
      is_llm_message: true,
      content,
      metadata: {},
      created_at: at,
    },
    NewMessage: { content: 'The figures are in euros.' },
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
  },
};
