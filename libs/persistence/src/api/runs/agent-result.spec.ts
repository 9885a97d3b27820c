import {
  type Message,
  type Run,
  type RunSettings,
  type ToolCall,
  message,
  newRun,
  runId,
  threadId,
  toolCall,
} from '@rondo/contract';
import { settings } from '../../testing/store-fixture';
import { toAgentResult } from './agent-result';

const at = '2026-01-01T00:00:00.000Z';
const usage = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0 };
const inDialect = (dialect: RunSettings['processor']['dialect'], tools = ['execute_command']): RunSettings => ({
  ...settings,
  tools,
  processor: { ...settings.processor, dialect },
});

const begun = {
  id: runId.parse('run_1'),
  thread_id: threadId.parse('thr_1'),
  last_seq: 9,
  metadata: {},
  created_at: at,
};
const createRun = (ran: RunSettings, status: Run['status'] = 'completed'): Run => ({
  ...newRun({ ...begun, settings: ran }),
  ...{ status, iteration: 2, epoch: 1, finish_reason: 'stop', usage, started_at: at, finished_at: at },
});

const said = (iteration: number, text: string, decision?: string): Message =>
  message.parse({
    ...{ id: `msg_${iteration}`, thread_id: 'thr_1', run_id: 'run_1', iteration, seq: iteration, type: 'assistant' },
    ...{ is_llm_message: true, content: [{ type: 'text', text }], created_at: at },
    metadata: decision === undefined ? {} : { decision },
  });

const called = (status: ToolCall['status'], more: Partial<Omit<ToolCall, 'status'>> = {}): ToolCall =>
  toolCall.parse({
    ...{ id: 'call_1', run_id: 'run_1', iteration: 1, index: 0, name: 'execute_command', arguments: {} },
    ...{ dialect: 'json', effect_class: 'unsafe', status, attempt: 1, message_id: 'msg_1' },
    ...{ result: { success: status === 'completed', output: 'done' }, started_at: at, finished_at: at },
    ...more,
  });

const json = inDialect('json');
const ofServer: RunSettings = {
  ...inDialect('json', []),
  mcp_servers: [{ name: 'tickets', transport: 'streamable_http', url: 'https://tickets.example/mcp' }],
};
const ofCaller: RunSettings = {
  ...inDialect('json', []),
  caller_tools: [{ name: 'get_weather', description: 'The weather.' }],
};
const refused = called('failed', { attempt: 0, result: { success: false, output: '', error: 'not executed' } });

describe('the result of a run that decides in JSON', () => {
  it.each<[string, Run, Message[], ToolCall[], boolean]>([
    ['it used a tool', createRun(json), [said(1, '', 'tool')], [called('completed')], true],
    ['it decided to use none', createRun(json), [said(1, 'Four.', 'none')], [], true],
    ['it had no tools', createRun(inDialect('json', [])), [said(1, 'Four.')], [], true],
    ['it had no tools and said nothing', createRun(inDialect('json', [])), [], [], true],
    ['it had only tools of a server and used none', createRun(ofServer), [said(1, 'Four.', 'malformed')], [], false],
    ['it had only tools of a server and said nothing', createRun(ofServer), [], [], false],
    [
      'it had only tools of a server and decided to use none',
      createRun(ofServer),
      [said(1, 'Four.', 'none')],
      [],
      true,
    ],
    ['the only server was not there', createRun(ofServer), [said(1, 'Four.')], [], true],
    ['it had only tools of its caller and used none', createRun(ofCaller), [said(1, 'Four.', 'malformed')], [], false],
    ['it could not be understood', createRun(json), [said(1, 'Well.', 'malformed')], [], false],
    ['a call beside it was refused', createRun(json), [said(1, '', 'tool')], [called('completed'), refused], true],
    ['its only call was refused', createRun(json), [said(1, '', 'tool')], [refused], false],
    ['its call was never made', createRun(json), [said(1, '', 'tool')], [called('planned', { attempt: 0 })], false],
    ['a call failed', createRun(json), [said(1, '', 'tool')], [called('completed'), called('failed')], false],
    ['the outcome of a call is unknown', createRun(json), [said(1, '', 'tool')], [called('unknown')], false],
    ['it failed', createRun(json, 'failed'), [said(1, 'Four.', 'none')], [], false],
    ['it was stopped', createRun(json, 'stopped'), [said(1, 'Four.', 'none')], [], false],
  ])('where %s', (_, ended, messages, calls, success) => {
    expect(toAgentResult(ended, messages, calls).success).toBe(success);
  });

  it.each<[string, Message[], ToolCall[], string | null]>([
    ['a call was refused', [said(1, '', 'tool')], [refused], 'The tool execute_command failed: not executed'],
    [
      'a call failed',
      [said(1, '', 'tool')],
      [called('failed', { result: { success: false, output: '', error: 'no such file' } }), called('completed')],
      'The tool execute_command failed: no such file',
    ],
    [
      'the outcome of a call is unknown',
      [said(1, '', 'tool')],
      [called('unknown', { result: null })],
      'The tool execute_command failed: The outcome is unknown.',
    ],
    [
      'it could not be understood',
      [said(1, 'Well.', 'malformed')],
      [],
      'The model neither named a tool nor answered, in the form that it was told.',
    ],
    ['all is well', [said(1, '', 'tool')], [called('completed'), refused], null],
  ])('says why it is no success where %s', (_, messages, calls, error) => {
    expect(toAgentResult(createRun(json), messages, calls)).toMatchObject({ success: error === null, error });
  });

  it('is what it said after its last tool', () => {
    const { result } = toAgentResult(
      createRun(json),
      [said(1, 'Let me see.', 'tool'), said(2, 'Four.')],
      [called('completed')],
    );

    expect(result.response).toBe('Four.');
  });

  it('is what its tools did, a line each, where it said nothing after them', () => {
    const failed = called('failed', { result: { success: false, output: '', error: 'no such file' } });
    const { result } = toAgentResult(createRun(json), [said(1, 'Let me see.', 'tool')], [called('completed'), failed]);

    expect(result.response).toBe(
      'Tool execute_command executed. Success: true. Result: done\n' +
        'Tool execute_command executed. Success: false. Result: no such file',
    );
  });
});

describe('the result of a run', () => {
  it.each(['text', 'answer'])('is the %s of `complete`, in any dialect', (name) => {
    const complete = called('completed', { name: 'complete', arguments: { [name]: 'All done.' } });

    for (const ran of [json, inDialect('native')]) {
      expect(toAgentResult(createRun(ran), [said(1, 'Let me see.')], [complete]).result.response).toBe('All done.');
    }
  });

  it.each([
    ['its last words where it went on after `complete`, for a message or an answer', 'Blue, too.', 'Blue, too.'],
    ['the text of `complete` where it went on and said nothing more', ' \n', 'All done.'],
  ])('is %s', (_, last, response) => {
    const complete = called('completed', { name: 'complete', arguments: { text: 'All done.' } });

    for (const ran of [json, inDialect('native')]) {
      const messages = [said(1, 'Let me see.'), said(2, last)];
      expect(toAgentResult(createRun(ran), messages, [complete]).result.response).toBe(response);
    }
  });

  it('is what it told its user with `message_user`, where it gave the turn back without a word after that', () => {
    const told = called('completed', { name: 'message_user', arguments: { text: 'Log in, please.' } });
    const call = { type: 'tool_call', tool_call_id: 'call_2', name: 'return_control_to_user', arguments: {} };
    const back = message.parse({ ...said(2, ''), content: [call] });
    const response = (messages: Message[]) =>
      toAgentResult(createRun(inDialect('native')), messages, [told]).result.response;

    expect(response([said(1, 'Let me see.'), back])).toBe('Log in, please.');
    expect(response([said(1, 'Let me see.'), said(2, 'That was it.')])).toBe('That was it.');
  });

  it('is its last words in other dialects, also where a call failed', () => {
    const { success, result } = toAgentResult(
      createRun(inDialect('native')),
      [said(1, 'It broke.')],
      [called('failed')],
    );

    expect([success, result.response]).toEqual([true, 'It broke.']);
  });

  it('is what its tools did where all that was said after them is a blank', () => {
    const { result } = toAgentResult(createRun(json), [said(1, '', 'tool'), said(2, ' \n')], [called('completed')]);

    expect(result.response).toBe('Tool execute_command executed. Success: true. Result: done');
  });

  it('names the tools that were executed, and no call that was refused or never sent', () => {
    const calls = [called('completed'), refused, called('planned', { attempt: 0 })];

    expect(toAgentResult(createRun(json), [said(1, '', 'tool')], calls).result.tools_executed).toHaveLength(1);
  });

  it.each<[string, Message['content']]>([
    ['nothing', []],
    ['a blank', [{ type: 'text', text: ' \n' }]],
    ['a thought', [{ type: 'reasoning', text: 'That was it.' }]],
  ])('is no word from on the way where all that was said at the end is %s', (_, content) => {
    const silence = { ...said(2, ''), content };
    const ended = createRun(inDialect('native'));

    expect(toAgentResult(ended, [said(1, 'Let me see.'), silence], [called('completed')])).toMatchObject({
      success: true,
      result: { response: 'Completed the task.' },
    });
  });

  it.each(['native', 'json'] as const)(
    'says in %s that a reply was cut off, and gives what there is of it',
    (dialect) => {
      const ended = { ...createRun(inDialect(dialect)), finish_reason: 'length' as const };

      expect(toAgentResult(ended, [said(1, 'The first half')], [])).toMatchObject({
        success: false,
        result: { response: 'The first half' },
        error: 'The last reply was cut off at the limit of its length.',
      });
    },
  );

  it.each([
    ['native', 'max_iterations', 'The run did not complete within 100 iterations.'],
    ['json', 'max_iterations', 'The run did not complete within 100 iterations.'],
    ['native', 'budget_exceeded', 'The run did not complete within what it or its account may spend.'],
    ['native', 'loop_detected', 'The run went in circles and did not complete.'],
  ] as const)('says in %s of a run that used up what it may use that it did not complete: %s', (...given) => {
    const [dialect, finish_reason, error] = given;
    const ended = { ...createRun(inDialect(dialect)), finish_reason };

    expect(toAgentResult(ended, [said(1, 'Let me see.')], [called('completed')])).toMatchObject({
      success: false,
      result: { response: error },
      error,
    });
  });
});
