import { exampleIds as ids } from '@rondo/contract/api';

const input = 'Write a small program and run it.';
const usage = { input_tokens: 4812, cached_tokens: 3072, output_tokens: 391, cost_usd: 0.0063 };
const result = { success: true, output: 'Hello from the sandbox.\n', exit_code: 0 };

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

export const exampleRun = {
  id: ids.run,
  thread_id: ids.thread,
  project_id: null,
  status: 'completed',
  iteration: 2,
  last_seq: 17,
  epoch: 1,
  finish_reason: 'stop',
  error: null,
  waiting: null,
  usage,
  profile: 'suna',
  model: 'openai/gpt-5',
  settings,
  agent_id: null,
  agent_version: null,
  preview: input,
  parent_run_id: null,
  parent_call_id: null,
  root_run_id: null,
  trace_id: null,
  forked_from: null,
  metadata: { ticket: 'T-118' },
  stop_requested_at: null,
  created_at: '2026-11-25T09:00:00.000Z',
  started_at: '2026-11-25T09:00:00.120Z',
  finished_at: '2026-11-25T09:00:07.480Z',
};

const call = {
  id: ids.call,
  run_id: ids.run,
  iteration: 1,
  index: 0,
  name: 'execute_command',
  arguments: { command: 'python3 hello.py' },
  dialect: 'native',
  effect_class: 'unsafe',
  status: 'completed',
  result,
  attempt: 1,
  message_id: ids.reply,
  started_at: '2026-11-25T09:00:03.200Z',
  finished_at: '2026-11-25T09:00:03.410Z',
};

/** What all events of a run have. */
const envelope = {
  id: ids.event,
  v: 1,
  run_id: ids.run,
  thread_id: ids.thread,
  iteration: 2,
  epoch: 1,
  at: '2026-11-25T09:00:07.480Z',
};

const completed = { ...envelope, seq: 17, type: 'run.completed', data: { finish_reason: 'stop', usage } };

/** Of runs, their logs and their tool calls. */
export const runExamples = {
  Run: exampleRun,
  RunCounts: {
    queued: 0,
    running: 2,
    stopping: 0,
    waiting_input: 1,
    waiting_budget: 0,
    waiting_child: 0,
    completed: 214,
    failed: 3,
    stopped: 5,
  },
  NewRun: { input, model: 'openai/gpt-5', budget: { usd: 1 }, metadata: { ticket: 'T-118' } },
  NewRunOnThread: { input: 'Now make it count to ten.', on_active_run: 'queue' },
  NewFork: { at_seq: 9, input: 'Write it in Ruby instead.', model: 'anthropic/claude-sonnet-4-5' },
  Answer: { content: 'Blue.' },
  BudgetRaise: { usd: 2 },
  StopRequest: { reason: 'It is going in circles.' },
  RunWait: {
    run_id: ids.run,
    at: '2026-11-25T09:00:05.000Z',
    cause: 'tool',
    sentence: 'execute_command has been running for 40 s.',
    since: '2026-11-25T08:59:25.000Z',
    tool_calls: [{ id: ids.call, name: 'execute_command', since: '2026-11-25T08:59:25.000Z' }],
  },
  EventPage: { data: [completed], head_seq: 17 },
  StreamEvent: {
    ...envelope,
    seq: null,
    type: 'message.delta',
    after_seq: 14,
    stream_id: ids.answer,
    offset: 12,
    data: { text: 'It printed ' },
  },
  LogVerification: {
    first: 1,
    last: 17,
    count: 17,
    contiguous: true,
    hash: 'a3f5d1c98b7e6042f1d3b5a7c9e8f60214365870a9cbed0f1234567890abcdef',
  },
  AgentResult: {
    success: true,
    result: {
      response: 'The program is in hello.py. It printed “Hello from the sandbox.”',
      reasoning: '',
      tools_executed: [
        { name: 'execute_command', success: true, result: result.output, error: null, metrics: { duration_ms: 210 } },
      ],
      agent: 'coder',
      model: 'openai/gpt-5',
      token_usage: usage,
      timestamp: '2026-11-25T09:00:07.480Z',
    },
    error: null,
    metrics: { duration_ms: 7360, iterations: 2, tool_calls: 1 },
  },
  ToolCall: call,
  ToolCallResolution: { outcome: 'completed', output: 'The ticket was created: T-118.' },
};
