import { z } from 'zod';
import { endUser } from '../end-user';
import { elicitation, formField, inputAnswer } from '../elicitation';
import { agentId, callId, messageId, projectId, runId, threadId } from '../ids';
import { fileChanges } from '../fork';
import { imageMediaType } from '../image-header';
import { runError, runFailure } from '../problem';
import { awaitedBudget, finishReason, question, run, runStatus, usage, waiting } from '../run';
import {
  agentIdentity,
  budgetSettings,
  contextSettings,
  limitSettings,
  llmSettings,
  processorSettings,
  profileName,
  runSettings,
} from '../run-settings';
import { runWait, waitCause } from '../run-wait';
import { textLimits } from '../text-limits';
import { dialectName, effectClass, toolCall, toolCallStatus } from '../tool-call';
import { recordedResult, toolAnswer } from '../tool-result';
import { exampleIds as ids } from './example-ids';
import { isWholeMetadata, metadataQuery, notWholeMetadata } from './metadata';
import { createPage, instant, pageQuery, searchedWords } from './paging';
import { type ApiSchemas, defineRoutes } from './route';

const statuses = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(runStatus))
  .describe('One status, or several with commas between them.')
  .meta({ examples: ['running,waiting_input'] });

const finishReasons = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(finishReason))
  .describe('Why finished runs ended: one reason, or several with commas between them.')
  .meta({ examples: ['budget_exceeded,max_iterations'] });

const rewindPreview = z.object({
  run_id: runId,
  seq: z.number().int().nonnegative().describe('The last fact before that point.'),
  files: fileChanges,
  effects: z
    .array(
      z.object({
        tool_call_id: callId,
        run_id: runId,
        name: z.string(),
        effect_class: effectClass,
        status: toolCallStatus,
        started_at: z.iso.datetime(),
      }),
    )
    .describe(
      'Calls after that point that may have had effects elsewhere, such as messages sent and sites published. They are not undone.',
    ),
  effects_truncated: z.boolean(),
});

const runQuery = pageQuery
  .extend({
    status: statuses.optional(),
    finish_reason: finishReasons.optional(),
    model: z.string().min(1).max(textLimits.modelName).optional().describe('The full name, as runs have it.'),
    thread_id: threadId.optional(),
    agent_id: agentId.optional(),
    project_id: projectId.optional(),
    user: endUser.optional().describe('Those of this person.'),
    q: searchedWords
      .describe(
        'Words that the input has, in any order; `"a phrase"`, `or`, and `-word` for one that it must not have.',
      )
      .meta({ example: 'invoice -draft' }),
    parent_run_id: runId.optional().describe('The runs that calls of `run_agent` of this run have started.'),
    ...metadataQuery,
    created_from: instant.optional().describe('Inclusive.'),
    created_before: instant.optional().describe('Exclusive.'),
  })
  .refine(isWholeMetadata, notWholeMetadata);

const runCountQuery = z.strictObject({
  thread_id: threadId.optional(),
  agent_id: agentId.optional(),
  project_id: projectId.optional(),
});

const agentResult = z.object({
  success: z.boolean(),
  result: z.object({
    response: z.string(),
    reasoning: z.string(),
    tools_executed: z.array(
      z.object({
        name: z.string(),
        success: z.boolean(),
        result: z.string(),
        error: z.string().nullable(),
        omitted: z
          .literal(true)
          .optional()
          .describe('The result is left out because later ones fill the response; the list of tool calls has it.'),
        metrics: z.object({ duration_ms: z.number().nullable() }),
      }),
    ),
    agent: z.string().nullable(),
    model: z.string(),
    token_usage: usage,
    timestamp: z.string(),
  }),
  error: z.string().nullable(),
  metrics: z.object({ duration_ms: z.number(), iterations: z.number().int(), tool_calls: z.number().int() }),
});

const runCounts = z.record(runStatus, z.number().int()).describe('How many runs there are in each status.');
const runPage = createPage(run);
const toolCallPage = createPage(toolCall);

/** Answers with runs are not parsed: an earlier release may have stored settings that this one would refuse. */
export const runReads = defineRoutes('runs', {
  listRuns: {
    method: 'GET',
    path: '/v1/runs',
    client: 'read',
    summary: 'List runs, newest first',
    query: runQuery,
    answers: { 200: { body: runPage, isParsed: false } },
  },
  countRuns: {
    method: 'GET',
    path: '/v1/runs/counts',
    summary: 'Count runs by status',
    query: runCountQuery,
    answers: { 200: { body: runCounts } },
  },
  getRun: {
    method: 'GET',
    path: '/v1/runs/{run_id}',
    client: 'read',
    summary: 'Read a run',
    answers: { 200: { body: run, isParsed: false } },
  },
  explainRun: {
    method: 'GET',
    path: '/v1/runs/{run_id}/why',
    summary: 'Say in one sentence, and as data, what a run waits for',
    answers: { 200: { body: runWait } },
  },
  previewRewind: {
    method: 'GET',
    path: '/v1/runs/{run_id}/rewind-preview',
    summary: 'Say what a return of the files to a point of the run would change, and what it cannot undo',
    description:
      'Compares the files as they were then with those that the workspace has now, and wakes its sandbox for that. Nothing changes.',
    query: z.strictObject({
      at_seq: z.coerce
        .number()
        .int()
        .min(1)
        .max(2_147_483_647)
        .optional()
        .describe('As of a fork. Absent: before the first call of the run that may have changed files.'),
      message_id: messageId
        .optional()
        .describe('Before this message that a person wrote, as of an edit. It wins over `at_seq`.'),
    }),
    answers: { 200: { body: rewindPreview } },
    problems: ['files_not_kept', 'log_too_long', 'log_trimmed', 'sandbox_refused', 'sandbox_unavailable'],
  },
  waitForRun: {
    method: 'GET',
    path: '/v1/runs/{run_id}/wait',
    client: 'read',
    summary: 'Wait until the run is terminal or waits for a person or its caller, or for the timeout; then read it',
    query: z.strictObject({ timeout_s: z.coerce.number().min(0).max(300).default(30) }),
    answers: { 200: { body: run, isParsed: false } },
    problems: ['too_many_connections'],
  },
  listRunToolCalls: {
    method: 'GET',
    path: '/v1/runs/{run_id}/tool-calls',
    client: 'read',
    summary: "List a run's tool calls, from the effect ledger",
    query: pageQuery,
    answers: { 200: { body: toolCallPage, isParsed: false } },
  },
  getRunResult: {
    method: 'GET',
    path: '/v1/runs/{run_id}/result',
    client: 'read',
    summary: 'Read the result of a terminal run',
    answers: { 200: { body: agentResult, isParsed: false } },
    problems: ['run_not_finished'],
  },
});

const output = 'Hello from the sandbox.\n';
const exampleUsage = { input_tokens: 4812, cached_tokens: 3072, output_tokens: 391, cost_usd: 0.0063 };

const settings = {
  profile: 'suna',
  model: 'openai/gpt-5',
  agent: { name: 'coder', system_prompt: 'You write small programs.' },
  tools: ['execute_command', 'create_file', 'ask', 'complete'],
  llm: { temperature: 0 },
  processor: {
    dialect: 'native',
    execute_tools: true,
    execute_on_stream: false,
    tool_execution_strategy: 'sequential',
    xml_adding_strategy: 'assistant_message',
    max_tool_calls: 10,
    native_max_auto_continues: 25,
    include_xml_examples: false,
    json_repair_attempts: 1,
    unknown_outcome: 'report',
  },
  limits: { max_iterations: 100, max_duration_s: 3600, max_malformed_calls: 3, tool_timeout_s: 300 },
  context: {
    strategy: 'summary',
    token_threshold: 120_000,
    summary_target_tokens: 10_000,
    reserve_tokens: 5000,
    max_turns: 200,
    keep_first: 1,
    keep_images: 3,
  },
  budget: { usd: 1 },
  termination: 'conversation',
};

const exampleRun = {
  id: ids.run,
  thread_id: ids.thread,
  project_id: null,
  user: 'user-4711',
  status: 'completed',
  iteration: 2,
  last_seq: 17,
  epoch: 1,
  finish_reason: 'stop',
  error: null,
  waiting: null,
  usage: exampleUsage,
  profile: 'suna',
  model: 'openai/gpt-5',
  settings,
  agent_id: null,
  agent_version: null,
  preview: 'Write a small program and run it.',
  parent_run_id: null,
  parent_call_id: null,
  root_run_id: null,
  trace_id: null,
  forked_from: null,
  steers: null,
  metadata: { ticket: 'T-118' },
  stop_requested_at: null,
  created_at: '2026-11-25T09:00:00.000Z',
  started_at: '2026-11-25T09:00:00.120Z',
  finished_at: '2026-11-25T09:00:07.480Z',
};

export const runReadSchemas: ApiSchemas = {
  shared: {
    ProfileName: profileName,
    Dialect: dialectName,
    AgentIdentity: agentIdentity,
    LlmSettings: llmSettings,
    BudgetSettings: budgetSettings,
    ToolExecutionStrategy: processorSettings.shape.tool_execution_strategy,
    UnknownOutcomePolicy: processorSettings.shape.unknown_outcome,
    ContextStrategy: contextSettings.shape.strategy,
    ImageMediaType: imageMediaType,
  },
  answers: {
    Run: run,
    RunPage: runPage,
    RunStatus: runStatus,
    RunSettings: runSettings,
    ProcessorSettings: processorSettings,
    LimitSettings: limitSettings,
    ContextSettings: contextSettings,
    FinishReason: finishReason,
    RunError: runError,
    RunFailure: runFailure,
    Waiting: waiting,
    Elicitation: elicitation,
    FormField: formField,
    InputAnswer: inputAnswer,
    Question: question,
    AwaitedBudget: awaitedBudget,
    Usage: usage,
    RunCounts: runCounts,
    RunWait: runWait,
    RewindPreview: rewindPreview,
    FileChanges: fileChanges,
    WaitCause: waitCause,
    AgentResult: agentResult,
    ToolCall: toolCall,
    ToolCallPage: toolCallPage,
    ToolCallStatus: toolCallStatus,
    ToolAnswer: toolAnswer,
    ToolResult: recordedResult,
    EffectClass: effectClass,
  },
  examples: {
    Run: exampleRun,
    RunCounts: {
      queued: 0,
      running: 2,
      stopping: 0,
      waiting_input: 1,
      waiting_budget: 0,
      waiting_child: 0,
      waiting_tool: 0,
      completed: 214,
      failed: 3,
      stopped: 5,
    },
    RunWait: {
      run_id: ids.run,
      at: '2026-11-25T09:00:05.000Z',
      cause: 'tool',
      sentence: 'execute_command has been running for 40 s.',
      since: '2026-11-25T08:59:25.000Z',
      tool_calls: [{ id: ids.call, name: 'execute_command', since: '2026-11-25T08:59:25.000Z' }],
    },
    RewindPreview: {
      run_id: ids.run,
      seq: 12,
      files: {
        created: { count: 0, paths: [] },
        changed: { count: 1, paths: ['src/app.py'] },
        removed: { count: 1, paths: ['report.pdf'] },
      },
      effects: [
        {
          tool_call_id: ids.call,
          run_id: ids.run,
          name: 'execute_command',
          effect_class: 'unsafe',
          status: 'completed',
          started_at: '2026-11-25T09:00:03.200Z',
        },
      ],
      effects_truncated: false,
    },
    AgentResult: {
      success: true,
      result: {
        response: 'The program is in hello.py. It printed “Hello from the sandbox.”',
        reasoning: '',
        tools_executed: [
          { name: 'execute_command', success: true, result: output, error: null, metrics: { duration_ms: 210 } },
        ],
        agent: 'coder',
        model: 'openai/gpt-5',
        token_usage: exampleUsage,
        timestamp: '2026-11-25T09:00:07.480Z',
      },
      error: null,
      metrics: { duration_ms: 7360, iterations: 2, tool_calls: 1 },
    },
    ToolCall: {
      id: ids.call,
      run_id: ids.run,
      iteration: 1,
      index: 0,
      name: 'execute_command',
      arguments: { command: 'python3 hello.py' },
      dialect: 'native',
      effect_class: 'unsafe',
      status: 'completed',
      result: { success: true, output, exit_code: 0 },
      attempt: 1,
      message_id: ids.reply,
      started_at: '2026-11-25T09:00:03.200Z',
      finished_at: '2026-11-25T09:00:03.410Z',
    },
  },
};
