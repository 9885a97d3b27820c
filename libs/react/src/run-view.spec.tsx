import { type Fact, Rondo, RunLog } from '@rondo/client';
import { renderToStaticMarkup } from 'react-dom/server';
import { ShownRun } from './run-view.tsx';

type NewFact = { [Type in Fact['type']]: Pick<Extract<Fact, { type: Type }>, 'type' | 'data'> }[Fact['type']];
type DataFor<Type extends Fact['type']> = Extract<Fact, { type: Type }>['data'];

const rondo = new Rondo({ baseUrl: 'http://gateway', apiKey: 'key' });
const used = { error: null, stop: () => Promise.reject(new Error('Nothing is stopped here.')) };

/** The words that are on the page after these facts. */
function readPage(...facts: readonly NewFact[]): string {
  const log = new RunLog();
  facts.forEach((fact, index) => {
    const envelope = { v: 1, run_id: 'run_1', thread_id: 'thread_1', iteration: 1, epoch: 1 } as const;
    log.apply({ ...envelope, ...fact, id: `evt_${index}`, seq: index + 1, at: '2026-01-01T00:00:00.000Z' });
  });
  const markup = renderToStaticMarkup(<ShownRun rondo={rondo} used={{ ...used, view: log.view }} />);
  return markup
    .replaceAll(/<[^>]*>/g, '\n')
    .replaceAll('&#x27;', "'")
    .replaceAll(/\n+/g, '\n');
}

const call = { tool_call_id: 'call_1', name: 'execute_command' };
const planned: NewFact = {
  type: 'tool.planned',
  data: {
    tool_call: {
      ...{ id: 'call_1', run_id: 'run_1', iteration: 1, index: 0, name: 'execute_command', dialect: 'native' },
      ...{ message_id: 'msg_1', started_at: null, finished_at: null, attempt: 0, status: 'planned', result: null },
      ...{ arguments: { command: 'npm test' }, effect_class: 'unsafe' },
    },
  },
};
const approval = { approval_id: 'apr_1', ...call };
const requested: NewFact = {
  type: 'approval.requested',
  data: { ...approval, requested_at: '2026-01-01T00:00:00.000Z', expires_at: '2026-01-02T00:00:00.000Z' },
};
const usage = { input_tokens: 1_200, cached_tokens: 0, output_tokens: 30, cost_usd: 0.1 };
const error = { code: 'model_error', message: 'The model is away.' };
const range = { from_message_id: 'msg_1', through_message_id: 'msg_2', message_count: 2 };

/** What a fact is tried with, after which facts, and the words that it brings. */
interface Shown<Type extends Fact['type']> {
  readonly data: DataFor<Type>;
  readonly after?: readonly NewFact[];
  readonly words: string | RegExp;
}

/** Of each type of fact what the page says of it, or why it says nothing. */
const shown: { readonly [Type in Fact['type']]: Shown<Type> | string } = {
  'run.created': { data: { profile: 'suna', model: 'demo/coder' }, words: 'queued' },
  'run.forked': {
    data: {
      ...{ run_id: 'run_0', seq: 7, hash: 'f00', requested_seq: 7, cut_back: null, workspace: 'empty' },
      paused_since: '2026-01-01T00:00:00.000Z',
    },
    words: 'The fork begins here: facts 1…7 are those of its origin.',
  },
  'run.started': { data: {}, words: 'running' },
  'run.waiting': { data: { reason: 'ask' }, words: 'It waits for an answer.' },
  'run.resumed': {
    data: { reason: 'input' },
    after: [{ type: 'run.waiting', data: { reason: 'ask' } }],
    words: 'running',
  },
  'budget.raised': { data: { usd: 2, raised_by: 'usr_1' }, words: 'The budget was raised to $2 by usr_1.' },
  'run.stop_requested': { data: { reason: null, requested_at: '2026-01-01T00:00:00.000Z' }, words: 'stopping' },
  'run.stopped': {
    data: {
      reason: null,
      receipt: {
        ...{ requested_at: '2026-01-01T00:00:00.000Z', model_aborted_at: null, tools_stopped: [] },
        ...{ tokens_after_stop: 0, sandbox_verified_at: null },
      },
      usage,
    },
    words: 'The run was stopped.',
  },
  'run.completed': {
    data: { finish_reason: 'stop', usage },
    words: /1,200\n tokens in, \n30\n out|1,200 tokens in, 30 out/,
  },
  'run.failed': { data: { error, usage }, words: 'The model is away.' },
  'database.replaced': { data: { unknown_calls: [] }, words: 'The database was replaced' },
  'iteration.started': 'The rows of the iteration follow.',
  'iteration.restarted': {
    data: { iteration: 1, message_id: 'msg_2', withdrawn_stream_ids: ['msg_1'] },
    words: 'What was not finished of the reply was withdrawn;',
  },
  'iteration.completed': 'The rows of the iteration said how it ended.',
  'message.created': {
    data: {
      message: {
        ...{ id: 'msg_1', thread_id: 'thread_1', run_id: 'run_1', iteration: 1, seq: 1, type: 'assistant' },
        ...{ content: [{ type: 'text', text: 'All done.' }], metadata: {}, is_llm_message: true },
        created_at: '2026-01-01T00:00:00.000Z',
      },
    },
    words: 'All done.',
  },
  'browser.state': 'A chat shows what was done in the browser, by its calls, and no pictures of pages.',
  'model.retried': {
    data: { attempt: 1, delay_ms: 500, error },
    words: 'The model failed (model_error). Attempt 2 after 500 ms.',
  },
  'model.fell_back': {
    data: { from: 'demo/a', to: 'demo/b', error, retry_at: '2026-01-01T00:00:00.000Z' },
    words: 'demo/a failed (model_error); demo/b answers instead.',
  },
  'usage.recorded': {
    data: {
      ...usage,
      model_call_id: 'mc_1',
      model: 'demo/coder',
      estimated: false,
      finish_reason: 'stop',
      duration_ms: 9,
      first_token_ms: 3,
    },
    words: /1,200\s+tokens in/,
  },
  'tool.planned': { data: planned.data, words: 'npm test' },
  'tool.started': 'A call that is planned is shown as one that goes on.',
  'tool.completed': {
    data: { ...call, result: { success: true, output: 'ok' }, duration_ms: 5, message_id: 'msg_2' },
    after: [planned],
    words: 'Ran npm test',
  },
  'tool.failed': {
    data: {
      ...call,
      result: { success: false, output: '', error: 'No such file.' },
      duration_ms: 5,
      message_id: 'msg_2',
    },
    after: [planned],
    words: 'No such file.',
  },
  'tool.unknown': { data: { ...call, reason: 'The executor died.' }, after: [planned], words: 'The executor died.' },
  'tool.resolved': {
    data: { ...call, outcome: 'completed' },
    words: 'A person ruled on execute_command: it took effect.',
  },
  'tool.input_requested': {
    data: { ...call, elicitations: [{ key: 'k', server: 'shop', message: 'Which size?', mode: 'form' } as never] },
    words: 'The MCP server shop asks: Which size?',
  },
  'tool.input_given': {
    data: { ...call, action: 'accept', key: 'k', answered_by: 'key_1' },
    words: 'A person answered, and execute_command is told: accept.',
  },
  'tool.task_created': {
    data: { ...call, task: { id: 'task 1' } },
    words: 'The server of execute_command goes on with the call as a task.',
  },
  'approval.requested': { data: requested.data, after: [planned], words: 'A person decides about it.' },
  'approval.decided': {
    data: { ...approval, outcome: 'deny', decided_by: 'key_1', reason: 'not today', arguments_hash: null },
    after: [planned, requested],
    words: 'Denied with the key key_1: not today',
  },
  'context.compaction_started': {
    data: { compaction_id: 'cmp_1', reason: 'threshold', covers: range as never, tokens_before: 9_000 },
    words: 'Summarizes older messages: 9,000 tokens are too many.',
  },
  'context.compacted': {
    data: {
      ...{ method: 'summary', compaction_id: 'cmp_1', message_id: 'msg_3', covers: range as never },
      ...{ tokens_before: 9_000, tokens_after: 1_000 },
    },
    words: 'Made the conversation shorter: 9,000 → 1,000 tokens.',
  },
  'context.compaction_failed': {
    data: { compaction_id: 'cmp_1', error },
    words: 'Could not summarize older messages (model_error); goes on without.',
  },
  'mcp.connected': {
    data: { server: 'shop', tools: ['shop__find'], refused: [] },
    words: 'The MCP server shop is connected: 1 tool.',
  },
  'secret.requested': {
    data: {
      approval_id: 'apr_1',
      host: 'api.example',
      method: 'GET',
      path: '/a',
      requested_at: '',
      expires_at: '',
      ...call,
      ...{ name: 'TOKEN' },
    },
    words: 'may this run use the secret TOKEN?',
  },
  'secret.decided': {
    data: { approval_id: 'apr_1', ...call, ...{ name: 'TOKEN' }, outcome: 'deny', decided_by: 'key_1', reason: 'No.' },
    words: 'A person denied this run the secret TOKEN: No.',
  },
  'workspace.preparing': {
    data: { image: 'python:3.12', repository: { path: 'site', ref: null }, files: ['a.txt'], egress: [] },
    words:
      'Prepares the workspace: the image python:3.12, the repository in site, 1 file, its network reaches nothing.',
  },
  'workspace.prepared': {
    data: {
      repository: { path: 'site', ref: null, commit: '0'.repeat(40), is_new: true },
      files: [],
      skills: [],
      duration_ms: 1_000,
    },
    words: 'The workspace is prepared: site is at 000000000000, after 1.0 s.',
  },
  'workspace.rewinding': {
    data: { thread_id: 'thr_1', run_id: 'run_1', moment: 'call_1' },
    words: 'Brings the files of the workspace back to an earlier state.',
  },
  'workspace.rewound': {
    data: {
      created: { count: 1, paths: ['a'] },
      changed: { count: 2, paths: [] },
      removed: { count: 3, paths: [] },
      duration_ms: 1_000,
    },
    words: 'The files are as they were then: 1 came back, 2 changed, 3 removed, after 1.0 s.',
  },
  'mcp.skipped': { data: { server: 'shop', reason: 'It is away.' }, words: 'The MCP server shop was left out' },
};

const types = Object.keys(shown) as Fact['type'][]; // the keys of this very record

describe('RunView', () => {
  it.each(types)('shows %s, or there is a reason why not', (type) => {
    const entry = shown[type];
    if (typeof entry === 'string') return expect(entry).toMatch(/\.$/);
    const { after = [], data, words } = entry;
    const before = readPage(...after);

    const page = readPage(...after, { type, data } as NewFact); // as the table says

    expect(before).not.toMatch(words instanceof RegExp ? words : escapeAll(words));
    expect(page).toMatch(words instanceof RegExp ? words : escapeAll(words));
  });

  it('says of each reason to wait what is awaited, and how to stop', () => {
    for (const reason of [
      'ask',
      'approval',
      'budget',
      'tool_unknown',
      'elicitation',
      'child_runs',
      'caller_tools',
    ] as const)
      expect(readPage({ type: 'run.waiting', data: { reason } })).toMatch(
        /It waits for|asks a person|used up its budget/,
      );
    expect(readPage({ type: 'run.started', data: {} })).toContain('Stop');
  });
});

const escapeAll = (words: string): RegExp => new RegExp(words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
