import { z } from 'zod';
import { browserScreen, requestedBrowserAction } from '../browser-operation';
import { projectId, sandboxId, threadId } from '../ids';
import { commandEvent, requestedCommand, sandboxState } from '../sandbox';
import { nameOptions } from './option-names';
import { createPage, pageQuery } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const away = 'Null where its executor does not answer, or does not know it';

const sandboxStatus = z
  .object({
    id: sandboxId,
    thread_id: threadId.describe(
      'The thread that has it. Of a shared one: an id that stands for its workspace where a thread is asked for; no thread of the project has it.',
    ),
    project_id: projectId.nullable().describe('The project whose threads share it. Null where a thread has it alone.'),
    executor_id: z.string().describe('The executor that created it.'),
    created_at: z.iso.datetime(),
    provider: z.string().nullable().describe('What kind of sandbox it is. Null while its executor does not answer.'),
    state: z
      .union([sandboxState, z.literal('unknown')])
      .describe(
        '`awake`: processes run or may run at once. `asleep`: it is stopped, and only its files exist; the next use wakes it. ' +
          '`archived`: its files are packed, and the next use brings them back first. `deleted`: its files were deleted, and the ' +
          'next call of a tool is told of it. `absent`: it has no files yet, or no longer. `unknown`: its executor does not answer.',
      ),
    since: z.iso.datetime().nullable().describe(`When it entered this state. ${away}.`),
    used_at: z.iso.datetime().nullable().describe(`When it was last used, give or take a minute. ${away}.`),
    disk_bytes: z
      .number()
      .int()
      .nullable()
      .describe(`What its files take, as last measured. ${away}; at a service always.`),
    running_seconds: z.number().int().nullable().describe(`How long it has been awake, all times together. ${away}.`),
    cost_usd: z
      .number()
      .nullable()
      .describe(
        `What that costs by the price of an hour that its executor is configured with (\`SANDBOX_USD_PER_H\`). ${away}.`,
      ),
  })
  .meta({
    examples: [
      {
        id: 'sbx_01KB3M8YQ8M4Z1T7N0V6R2C5XD',
        thread_id: 'thr_01KB3M8W2C9E5QH7ZJ4T6N8P0A',
        project_id: null,
        executor_id: 'exe_01KB2Z7R5D1F3G8H9J0K2M4N6P',
        created_at: '2026-11-25T09:00:00.000Z',
        provider: 'embedded',
        state: 'archived',
        since: '2026-11-26T10:20:00.000Z',
        used_at: '2026-11-25T10:15:30.000Z',
        disk_bytes: 1_482_752,
        running_seconds: 5_130,
        cost_usd: 0.07125,
      },
    ],
  });

const sandboxPage = createPage(sandboxStatus);

const path = z.string().min(1).max(4_096).describe('In `/workspace`: relative to it, or absolute.');
const queryExample = { path: 'notes/plan.md' };

const fileList = z.object({
  data: z.array(
    z.object({
      path: z.string().describe('Relative to the path that was asked for.'),
      kind: z.enum(['file', 'directory', 'link', 'other']),
      size: z.number().int().describe('In bytes.'),
      unreadable: z
        .literal(true)
        .exactOptional()
        .describe('Of a folder that the sandbox may not read: what is in it is missing here.'),
    }),
  ),
  truncated: z.boolean().describe('There are more entries than a list may have.'),
});

const writtenFile = z.object({ path: z.string(), size: z.number().int().describe('In bytes.') });
const browserOperation = z.strictObject({ action: requestedBrowserAction });

/** What asks the executor of a sandbox. */
const ofExecutor = ['sandbox_refused', 'sandbox_unavailable'] as const;

export const sandboxes = defineRoutes('sandboxes', {
  listSandboxes: {
    method: 'GET',
    path: '/v1/sandboxes',
    summary: 'List sandboxes with their states and what they cost, newest first',
    description: 'Wakes nothing. Where an executor does not answer in time, the states of its sandboxes are `unknown`.',
    query: pageQuery.extend({
      thread_id: threadId.optional().describe('Only the sandbox that this thread has, alone or with its project.'),
    }),
    answers: { 200: { body: sandboxPage } },
  },
  getSandbox: {
    method: 'GET',
    path: '/v1/sandboxes/{sandbox_id}',
    summary: 'Read a sandbox and its state',
    answers: { 200: { body: sandboxStatus } },
  },
  getThreadSandbox: {
    method: 'GET',
    path: '/v1/threads/{thread_id}/sandbox',
    client: 'files',
    summary: "Read a thread's sandbox and its state",
    description: 'Creates and wakes nothing.',
    answers: { 200: { body: sandboxStatus } },
    problems: ['sandbox_not_found'],
  },
  ensureSandbox: {
    method: 'POST',
    path: '/v1/threads/{thread_id}/sandbox',
    summary: "Wake a thread's sandbox; where it has none, create one",
    answers: { 200: { body: sandboxStatus } },
    problems: ofExecutor,
  },
  startSandbox: {
    method: 'POST',
    path: '/v1/sandboxes/{sandbox_id}/start',
    summary: 'Wake a sandbox',
    answers: { 200: { body: sandboxStatus } },
    problems: ofExecutor,
  },
  stopSandbox: {
    method: 'POST',
    path: '/v1/sandboxes/{sandbox_id}/stop',
    summary: 'Kill all processes of a sandbox; its files stay',
    description: 'A command of a run that is under way is killed too, and the run is told that its sandbox was lost.',
    audit: 'sandbox.stop',
    answers: { 200: { body: sandboxStatus } },
    problems: ofExecutor,
  },
  deleteSandbox: {
    method: 'DELETE',
    path: '/v1/sandboxes/{sandbox_id}',
    summary: 'Kill all processes of a sandbox and delete its files',
    description: 'Its thread stays, and begins with an empty workspace at its next use.',
    audit: 'sandbox.delete',
    answers: { 204: {} },
    problems: ofExecutor,
  },
  getBrowser: {
    method: 'GET',
    path: '/v1/sandboxes/{sandbox_id}/browser',
    summary: "See what the sandbox's browser shows now",
    description: 'Starts nothing, and disturbs no call of the agent. To be asked for again about every second.',
    answers: { 200: { body: browserScreen, isParsed: false } },
    problems: ['browser_not_running', ...ofExecutor],
  },
  operateBrowser: {
    method: 'POST',
    path: '/v1/sandboxes/{sandbox_id}/browser/actions',
    summary: "Click, type or go somewhere in the sandbox's browser, and see what it shows then",
    description:
      'For a person who does what the agent cannot: a captcha, a login, a second factor. Refused with `browser_busy` while a run ' +
      'that uses the sandbox is running; one that waits, for example for the answer to its question, may be helped. What is ' +
      'typed is stored and logged nowhere, and the audit log has only that the browser was operated.',
    audit: 'browser.operate',
    storesAnswer: false,
    hasSecretBody: true,
    body: browserOperation,
    answers: { 200: { body: browserScreen, isParsed: false } },
    problems: ['browser_busy', 'browser_not_running', ...ofExecutor],
  },
  runCommand: {
    method: 'POST',
    path: '/v1/sandboxes/{sandbox_id}/commands',
    summary: 'Run a command in a sandbox, and stream what it prints as server-sent events',
    description:
      'For a person: it is no part of a run, and no model is told of it. It has the limits and the network of the tool `execute_command`, ' +
      'but is granted no secrets, and runs beside the calls of the agent. Wakes the sandbox. The command is killed when the client leaves before its ' +
      'end. What is run and printed is stored and logged nowhere; the audit log has only that there was a command.',
    audit: 'sandbox.command',
    storesAnswer: false,
    hasSecretBody: true,
    body: requestedCommand,
    answers: { 200: { events: commandEvent } },
    problems: ['too_many_connections', ...ofExecutor],
  },
  listFiles: {
    method: 'GET',
    path: '/v1/sandboxes/{sandbox_id}/files',
    client: 'files',
    summary: 'List files; `node_modules` and `.git` are listed but not entered',
    query: z.strictObject({
      path: path.default('.'),
      depth: z.coerce.number().int().min(1).max(10).default(1).describe('1 lists the directory itself.'),
    }),
    answers: { 200: { body: fileList } },
    problems: ['file_not_found', ...ofExecutor],
  },
  readFile: {
    method: 'GET',
    path: '/v1/sandboxes/{sandbox_id}/files/content',
    client: 'files',
    summary: 'Read a file',
    query: z.strictObject({ path }),
    queryExample,
    answers: { 200: { bytes: ['application/octet-stream'] } },
    problems: ['file_not_found', ...ofExecutor],
  },
  writeFile: {
    method: 'PUT',
    path: '/v1/sandboxes/{sandbox_id}/files/content',
    summary: 'Write a file: the body is its content, of any type and length',
    description: 'Creates missing directories. The file is replaced once the whole body has arrived, or not at all.',
    audit: 'sandbox_file.write',
    query: z.strictObject({ path }),
    queryExample,
    rawBody: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    answers: { 200: { body: writtenFile } },
    problems: ['file_not_found', 'payload_too_large', ...ofExecutor],
  },
  deleteFile: {
    method: 'DELETE',
    path: '/v1/sandboxes/{sandbox_id}/files',
    summary: 'Delete a file or a directory',
    audit: 'sandbox_file.delete',
    query: z.strictObject({
      path,
      recursive: z.stringbool().default(false).describe('Needed for a directory, which goes with all that it has.'),
    }),
    queryExample,
    answers: { 204: {} },
    problems: ['file_not_found', ...ofExecutor],
  },
});

export const sandboxSchemas: ApiSchemas = {
  requests: {
    BrowserOperation: browserOperation,
    BrowserAction: requestedBrowserAction,
    ...nameOptions(requestedBrowserAction.options, 'BrowserAction'),
    SandboxCommand: requestedCommand,
  },
  answers: {
    Sandbox: sandboxStatus,
    SandboxPage: sandboxPage,
    SandboxStatus: sandboxStatus,
    FileList: fileList,
    WrittenFile: writtenFile,
    BrowserScreen: browserScreen,
    CommandEvent: commandEvent,
    ...nameOptions(commandEvent.options, 'Event'),
  },
  examples: {
    BrowserScreen: {
      url: 'https://shop.example/login',
      title: 'Log in',
      width: 1280,
      height: 800,
      tabs: [{ page_id: 1, url: 'https://shop.example/login', title: 'Log in', is_active: true }],
      screenshot: '/9j/4AAQSkZJRgABAQAAAQABAAD/2Q==',
      notes: [],
      problem: null,
    },
    BrowserOperation: { action: { type: 'click', x: 640, y: 412 } },
    SandboxCommand: { command: 'npm test', cwd: '/workspace/app', timeout_s: 300 },
    CommandEvent: { type: 'command.output', text: 'Tests: 12 passed, 12 total\n' },
    FileList: { data: [{ path: 'hello.py', kind: 'file', size: 32 }], truncated: false },
    WrittenFile: { path: 'notes/plan.md', size: 812 },
  },
};
