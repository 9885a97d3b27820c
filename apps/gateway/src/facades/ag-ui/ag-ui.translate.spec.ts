import * as agUi1 from '@ag-ui/client';
import type { AgUiMessage } from '@rondo/contract/api';
import * as agUi0 from 'ag-ui-client-0';
import type { SubscriberEvent } from '../../live/stream-notices';
import { RecordedLog as Log, envelope } from '../testing/recorded-log';
import { AgUiTranslator, type Frame, type TranslatorOptions } from './ag-ui.translate';

/** The parts of the two generations that are alike, in the types of the older. */
type AgUi = Pick<typeof agUi0, 'HttpAgent'>;
const generations: [string, AgUi, string | undefined][] = [
  ['1.0', agUi1 as unknown as AgUi, '1.0'],
  ['0.0.59', agUi0, undefined],
];

const usual: TranslatorOptions = {
  threadId: 'thread',
  runId: 'run',
  rondo: { run_id: 'run_1', thread_id: 'thr_1' },
  protocolVersion: '1.0',
  history: [],
  isTakenUp: false,
  callerTools: new Set(),
  passed: new Set(),
};

function translate({ events }: Log, options: Partial<TranslatorOptions> = {}): Frame[] {
  const translator = new AgUiTranslator({ ...usual, ...options });
  const frames = [...translator.begin(), ...events.flatMap((event) => translator.translate(event))];
  expect(translator.isOver).toBe(['RUN_FINISHED', 'RUN_ERROR'].includes(frames.at(-1)?.type ?? ''));
  return frames;
}

interface Seen {
  readonly messages: AgUiMessage[];
  readonly interrupts: readonly { readonly id: string; readonly reason: string }[];
  readonly error: string | undefined;
}

/** What a published client, which verifies the order of the events, makes of them. */
async function apply(
  { HttpAgent }: AgUi,
  frames: readonly Frame[],
  before: readonly AgUiMessage[] = [],
): Promise<Seen> {
  const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('');
  const headers = { 'content-type': 'text/event-stream' };
  const agent = new HttpAgent({
    url: 'http://localhost/ag-ui',
    fetch: () => Promise.resolve(new Response(text, { headers })),
    initialMessages: before as agUi0.Message[],
  });
  let error: string | undefined;
  await agent.runAgent({}, { onRunErrorEvent: ({ event }) => void (error = `${event.code ?? ''} ${event.message}`) });
  return { messages: agent.messages, interrupts: agent.pendingInterrupts, error };
}

const contents = ({ messages }: Pick<Seen, 'messages'>): string[] =>
  messages.map(({ role, content }) => `${role}: ${String(content)}`);
const types = (frames: readonly Frame[]): string[] => frames.map(({ type }) => type);
const last = (frames: readonly Frame[]): Frame | undefined => frames.at(-1);

const user: AgUiMessage = { id: 'u1', role: 'user', content: 'Hello?' };

const failing = { success: false, output: '', error: 'no' };
const approval = { approval_id: 'apr_1', tool_call_id: 'call_1', name: 'execute_command', expires_at: envelope.at };
const withApproval = () =>
  new Log()
    .begin()
    .delta('message.delta', 'msg_1', { text: 'I ask.' })
    .reply('I ask.')
    .plan('call_1', 'execute_command', { command: 'make' })
    .fact('approval.requested', approval)
    .fact('run.waiting', { reason: 'approval', approvals: [approval] });
const withQuestion = () =>
  new Log()
    .begin()
    .plan('call_1', 'ask', { text: 'Which colour?' })
    .fact('run.waiting', {
      reason: 'ask',
      question: { text: 'Which colour?', attachments: [], tool_call_id: 'call_1' },
    });
const restarted = () =>
  new Log()
    .begin()
    .delta('reasoning.delta', 'msg_1', { text: 'Old thought.' })
    .delta('message.delta', 'msg_1', { text: 'Withdrawn' })
    .delta('tool.call_delta', 'call_1', { name: 'list_files', arguments_text: '{"pa' })
    .fact('iteration.restarted', { iteration: 1, message_id: 'msg_2', withdrawn_stream_ids: ['msg_1', 'call_1'] })
    .delta('message.delta', 'msg_2', { text: 'New' })
    .reply('New text', '', 'msg_2')
    .complete();

describe('events of AG-UI', () => {
  it('show reasoning and text in a step, with the ids of the run', () => {
    const log = new Log()
      .begin()
      .delta('reasoning.delta', 'msg_1', { text: 'Hm.' })
      .delta('message.delta', 'msg_1', { text: 'Hello, ' })
      .delta('message.delta', 'msg_1', { text: 'world.' })
      .reply('Hello, world.', 'Hm.')
      .complete();
    const frames = translate(log);
    expect(types(frames)).toEqual([
      'RUN_STARTED', 'STEP_STARTED', 'REASONING_START', 'REASONING_MESSAGE_START', 'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END', 'REASONING_END', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END', 'STEP_FINISHED', 'RUN_FINISHED',
    ]); // prettier-ignore
    expect(frames[0]).toMatchObject({ threadId: 'thread', runId: 'run', metadata: { rondo: { run_id: 'run_1' } } });
    expect(last(frames)).toMatchObject({ outcome: { type: 'success' }, result: { finish_reason: 'stop' } });
  });

  it('name a version and outcomes only to clients that sent a version', () => {
    const log = () => new Log().begin().fact('run.stopped', { reason: 'read by run_2' });
    expect(last(translate(log()))).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    const frames = translate(log(), { protocolVersion: undefined });
    expect(frames[0]).not.toHaveProperty('protocolVersion');
    expect(last(frames)).not.toHaveProperty('outcome');
    expect(last(frames)).toMatchObject({ result: { finish_reason: 'stopped', reason: 'read by run_2' } });
    expect(last(translate(withQuestion(), { protocolVersion: undefined }))).toMatchObject({
      outcome: { type: 'interrupt' },
    });
  });

  it.each(['max_iterations', 'budget_exceeded', 'loop_detected'])(
    'are an error where %s has cut the run off',
    (reason) => {
      const frames = translate(new Log().begin().reply('Half.').complete(reason));
      const message = `The run ended before it was done: ${reason}.`;
      expect(last(frames)).toMatchObject({ type: 'RUN_ERROR', code: reason, message });
      expect(types(frames)).not.toContain('RUN_FINISHED');
    },
  );

  it('count the tokens of each model', () => {
    const used = { model: 'demo/one', input_tokens: 3, cached_tokens: 1, output_tokens: 2, finish_reason: 'stop' };
    const log = new Log().begin().fact('usage.recorded', used).fact('usage.recorded', used).complete();
    expect(last(translate(log))).toMatchObject({
      usage: [
        { provider: 'demo', model: 'demo/one', inputTokens: 6, outputTokens: 4, totalTokens: 10, cachedInputTokens: 2 },
      ],
    });
  });

  it('end with an error for a wait that the client cannot end, and never skip what was deleted', () => {
    const waits = new Log().begin().fact('run.waiting', { reason: 'budget' });
    expect(last(translate(waits))).toMatchObject({ type: 'RUN_ERROR', code: 'waiting_budget' });
    const gap = { ...envelope, seq: null, type: 'stream.gap', data: { from: 1, to: 9 } } as unknown as SubscriberEvent;
    const translator = new AgUiTranslator(usual);
    expect(translator.translate(gap)).toMatchObject([{ type: 'RUN_ERROR', code: 'log_trimmed' }]);
    expect(translator.translate(gap)).toEqual([]);
  });

  it('go on after a wait that was ended elsewhere, and while child runs are awaited', () => {
    const log = withQuestion().fact('run.resumed', { reason: 'input' }).fact('run.waiting', { reason: 'child_runs' });
    const frames = translate(log.begin('msg_2').reply('Blue.', '', 'msg_2').complete(), { passed: new Set([3]) });
    expect(types(frames)).not.toContain('MESSAGES_SNAPSHOT');
    expect(last(frames)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
  });
});

describe.each(generations)('a client %s of AG-UI', (_, agUi, protocolVersion) => {
  const show = (log: Log, options: Partial<TranslatorOptions> = {}) =>
    apply(agUi, translate(log, { protocolVersion, history: [user], ...options }), [user]);

  it('has the whole text once, however much of it came in deltas', async () => {
    const text = 'Hello, world.';
    for (let known = 0; known <= text.length; known += 4) {
      const log = new Log().begin();
      if (known > 0) log.delta('message.delta', 'msg_1', { text: text.slice(0, known) });
      const seen = await show(log.reply(text, 'Hm.').complete());
      expect(contents(seen).toSorted()).toEqual(['assistant: Hello, world.', 'reasoning: Hm.', 'user: Hello?']);
    }
  });

  it('has parallel calls in their message, each with one result', async () => {
    const log = new Log()
      .begin()
      .delta('message.delta', 'msg_1', { text: 'I look.' })
      .delta('tool.call_delta', 'call_1', { name: 'list_files', arguments_text: '{"path":' })
      .delta('tool.call_delta', 'call_1', { name: 'list_files', arguments_text: ' "."}' })
      .plan('call_1', 'list_files', { path: '.' })
      .reply('I look.')
      .plan('call_2', 'read_file')
      .result('call_2', 'read_file', 'b')
      .fact('tool.failed', { tool_call_id: 'call_1', name: 'list_files', result: failing })
      .fact('tool.unknown', { tool_call_id: 'call_1', name: 'list_files', reason: 'again', message_id: 'msg_9' })
      .complete();
    const { messages } = await show(log);
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
      { toolCallId: 'call_2', content: 'b' },
      { toolCallId: 'call_1', content: 'no' },
    ]);
    expect(messages.filter(({ role }) => role === 'assistant')).toMatchObject([
      {
        id: 'msg_1',
        content: 'I look.',
        toolCalls: [
          { id: 'call_1', function: { name: 'list_files', arguments: '{"path": "."}' } },
          { id: 'call_2', function: { name: 'read_file', arguments: '{}' } },
        ],
      },
    ]);
  });

  it('has the arguments as they are kept, where they were written otherwise or came in part', async () => {
    const log = new Log()
      .begin()
      .delta('tool.call_delta', 'call_1', { name: 'list_files', arguments_text: '{"path": "a"' })
      .plan('call_1', 'list_files', { path: 'ab' })
      .result('call_1', 'list_files', 'x')
      .reply('Done.')
      .complete();
    const { messages } = await show(log);
    expect(messages).toMatchObject([
      { role: 'user' },
      { id: 'msg_1', content: 'Done.', toolCalls: [{ function: { arguments: '{"path":"ab"}' } }] },
      { role: 'tool', content: 'x' },
    ]);
    expect(messages).toHaveLength(3);
  });

  it('is asked with a message and an interrupt, and not with a tool', async () => {
    const seen = await show(withQuestion());
    expect(contents(seen)).toEqual(['user: Hello?', 'assistant: Which colour?']);
    expect(seen.interrupts).toMatchObject([{ id: 'call_1', reason: 'ask', message: 'Which colour?' }]);
  });

  it('keeps its history at an approval', async () => {
    const seen = await show(withApproval());
    expect(contents(seen)).toEqual(['user: Hello?', 'assistant: I ask.']);
    expect(seen.interrupts).toMatchObject([{ id: 'apr_1', reason: 'approval', toolCallId: 'call_1' }]);
  });

  it('has calls of its own tools without results, and no result that it gave', async () => {
    const callerTools = new Set(['get_weather']);
    const tool_calls = [{ tool_call_id: 'call_1', name: 'get_weather' }];
    const asking = new Log().begin().plan('call_1', 'get_weather', { city: 'Bergen' });
    const frames = translate(asking.fact('run.waiting', { reason: 'caller_tools', tool_calls }), {
      callerTools,
      protocolVersion,
    });
    if (protocolVersion)
      expect(last(frames)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['call_1'] } });
    expect((await apply(agUi, frames)).messages).toMatchObject([{ toolCalls: [{ id: 'call_1' }] }]);

    const answered = new Log().result('call_1', 'get_weather', 'Rain.').begin('msg_2').reply('Rain.', '', 'msg_2');
    const seen = await apply(agUi, translate(answered.complete(), { callerTools, protocolVersion }));
    expect(contents(seen)).toEqual(['assistant: Rain.']);
  });

  it('loses what was withdrawn, in a snapshot that keeps the rest', async () => {
    const tool: AgUiMessage = { id: 't1', role: 'tool', toolCallId: 'call_0', content: 'old result' };
    const calls = [{ id: 'call_0', type: 'function', function: { name: 'list_files', arguments: '{}' } }];
    const history: AgUiMessage[] = [user, { id: 'a1', role: 'assistant', toolCalls: calls }, tool];
    const frames = translate(restarted(), { history, protocolVersion });
    const seen = await apply(agUi, frames, history);
    expect(contents(seen)).toEqual([
      'user: Hello?',
      'assistant: undefined',
      'tool: old result',
      'reasoning: ',
      'assistant: New text',
    ]);
    expect(JSON.stringify(seen.messages)).not.toContain('call_1');
  });

  it('has what came before, when it takes a run up', async () => {
    const partial: AgUiMessage = { id: 'msg_1', role: 'assistant', content: 'Hello, wo' };
    const frames = translate(new Log().begin().reply('Hello, world.').complete(), {
      history: [user],
      isTakenUp: true,
      protocolVersion,
    });
    expect(types(frames).slice(0, 2)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    expect(contents(await apply(agUi, frames, [user, partial]))).toEqual(['user: Hello?', 'assistant: Hello, world.']);
  });

  it('has what its run was told elsewhere', async () => {
    const content = [{ type: 'text', text: 'In blue.' }];
    const told = { id: 'msg_9', type: 'user', content, metadata: { queued_as: 'run_2' } };
    const log = new Log().begin().reply('I paint.').fact('message.created', { message: told });
    expect(contents(await show(log.begin('msg_2').reply('Blue.', '', 'msg_2').complete()))).toEqual([
      'user: Hello?',
      'assistant: I paint.',
      'user: In blue.',
      'assistant: Blue.',
    ]);
  });

  it('reads what a run says last', async () => {
    const log = new Log().begin().plan('call_1', 'complete', { text: 'Done.' }).result('call_1', 'complete', 'ok');
    expect(contents(await show(log.complete('complete')))).toEqual(['user: Hello?', 'assistant: Done.']);
  });

  it.each([
    ['run.stopped', {}, undefined],
    ['run.failed', { error: { code: 'provider_error', message: 'It broke.' } }, 'provider_error It broke.'],
  ] as const)('has half a reply at %s, closed in order', async (type, data, error) => {
    const log = new Log()
      .begin()
      .delta('reasoning.delta', 'msg_1', { text: 'Hm.' })
      .delta('message.delta', 'msg_1', { text: 'Half' })
      .delta('tool.call_delta', 'call_1', { name: 'list_files', arguments_text: '{' })
      .fact(type, data)
      .begin();
    const seen = await show(log);
    expect(contents(seen)).toContain('assistant: Half');
    expect(seen.error).toBe(error);
  });
});
