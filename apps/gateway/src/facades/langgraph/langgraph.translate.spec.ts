import type { LangGraphStreamMode } from '@rondo/contract/api';
import type { SubscriberEvent } from '../../live/stream-notices';
import { type Position, readPosition } from '../positions';
import { RecordedLog as Log, envelope } from '../testing/recorded-log';
import { type GraphMessage, type MessageNames, MessageState, noNames } from './langgraph.messages';
import { type Frame, LangGraphTranslator, beginning, openStream } from './langgraph.translate';

const allModes: readonly LangGraphStreamMode[] = ['values', 'messages-tuple', 'updates'];

interface Reading {
  readonly after?: number;
  readonly from?: Position;
  readonly modes?: readonly LangGraphStreamMode[];
  readonly names?: MessageNames;
}

function translate(events: readonly SubscriberEvent[], reading: Reading = {}): Frame[] {
  const { after = 0, from = beginning, modes = allModes, names = noNames } = reading;
  const segment = { runId: 'run_1' as never, after };
  const options = { segment, runName: 'run_1', threadName: 'T-1', modes: new Set(modes), from };
  const translator = new LangGraphTranslator(options, new MessageState(names));
  return [...openStream(options), ...events.flatMap((event) => translator.translate(event))];
}

type Chunk = readonly [GraphMessage, Readonly<Record<string, unknown>>];
const toChunk = ({ data }: Frame): GraphMessage => (data as Chunk)[0];
const toState = ({ data }: Frame) => (data as { messages: GraphMessage[] }).messages;

const toText = (content: GraphMessage['content']): string =>
  typeof content === 'string' ? content : JSON.stringify(content);

/** Texts by the ids of the messages, as a client joins the pieces. */
function join(frames: readonly Frame[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const frame of frames) {
    if (frame.event !== 'messages') continue;
    const { id, content } = toChunk(frame);
    texts[id] = (texts[id] ?? '') + toText(content);
  }
  return texts;
}

const short = (frames: readonly Frame[]): string[] =>
  frames.map((frame) => {
    if (frame.event === 'messages') return `messages ${toChunk(frame).type} ${toText(toChunk(frame).content)}`.trim();
    if (frame.event === 'values') return `values ${toState(frame).map(({ id }) => id).join(' ')}`.trim(); // prettier-ignore
    if (frame.event === 'updates') return `updates ${Object.keys(frame.data as object).join()}`;
    return frame.event;
  });

const message = (type: string, id: string, content: object[], metadata: object = {}) => ({
  message: { id, type, content, metadata, run_id: 'run_1', is_llm_message: true },
});
const text = (words: string) => ({ type: 'text', text: words });
const user = (log: Log, words: string, metadata = {}, id = 'msg_0') =>
  log.fact('message.created', message('user', id, [text(words)], metadata));
const reply = (log: Log, id: string, words: string, calls: readonly (readonly [string, string, object])[]) =>
  log.fact('message.created', message('assistant', id, [
      ...(words === '' ? [] : [text(words)]),
      ...calls.map(([callId, name, given]) => ({ type: 'tool_call', tool_call_id: callId, name, arguments: given })),
    ])); // prettier-ignore
const result = (log: Log, callId: string, name: string, output: string) =>
  log.fact('message.created', message('tool', `msg_of_${callId}`, [
      { type: 'tool_result', tool_call_id: callId, name, result: { success: true, output } },
    ])); // prettier-ignore

const plain = () =>
  user(new Log(), 'Hello?')
    .begin()
    .delta('reasoning.delta', 'msg_1', { text: 'Hm.' })
    .delta('message.delta', 'msg_1', { text: 'Hello, ' })
    .delta('message.delta', 'msg_1', { text: 'world.' })
    .reply('Hello, world.', 'Hm.')
    .complete();

const withTool = () => {
  const log = user(new Log(), 'Look.').begin();
  reply(log, 'msg_1', 'I look.', [
    ['call_1', 'list_files', { path: '.' }],
    ['call_2', 'read_file', {}],
  ]);
  result(log, 'call_2', 'read_file', 'b');
  result(log, 'call_1', 'list_files', 'a');
  return log.begin('msg_2').reply('Seen.', '', 'msg_2').complete();
};

const asks = () => {
  const log = user(new Log(), 'Paint.').begin();
  reply(log, 'msg_1', '', [['call_1', 'ask', { text: 'Which colour?' }]]);
  result(log, 'call_1', 'ask', '');
  return log.fact('run.waiting', {
    reason: 'ask',
    question: { text: 'Which colour?', attachments: [], tool_call_id: 'call_1' },
  });
};

const answered = () => {
  const log = asks();
  user(log, 'Blue.', { answers_tool_call_id: 'call_1' }, 'msg_9').fact('run.resumed', { reason: 'input' });
  return log.begin('msg_2').reply('It is blue.', '', 'msg_2').complete();
};
const answeredAfter = asks().events.at(-1)?.seq ?? 0;

describe('frames of LangGraph', () => {
  it('show text in pieces, and the whole state after each step', () => {
    const frames = translate(plain().events);
    expect(short(frames)).toEqual([
      'metadata', 'values msg_0', 'messages AIMessageChunk', 'messages AIMessageChunk Hello,',
      'messages AIMessageChunk world.', 'updates agent', 'values msg_0 msg_1', 'end',
    ]); // prettier-ignore
    expect(frames[0]?.data).toEqual({ run_id: 'run_1', attempt: 1, thread_id: 'T-1' });
    expect(toState(frames[6] as Frame)).toMatchObject([
      { type: 'human', id: 'msg_0', content: 'Hello?' },
      {
        type: 'ai',
        id: 'msg_1',
        content: 'Hello, world.',
        additional_kwargs: { reasoning_content: 'Hm.' },
        tool_calls: [],
      },
    ]);
    expect(frames.at(-1)?.data).toEqual({ run_id: 'run_1', status: 'success' });
  });

  it('have the whole text, however much of it came in deltas', () => {
    const words = 'Hello, world.';
    for (let known = 0; known <= words.length; known += 1) {
      const log = new Log().begin();
      if (known > 0) log.delta('message.delta', 'msg_1', { text: words.slice(0, known) });
      expect(join(translate(log.reply(words).complete().events))).toEqual({ msg_1: words });
    }
  });

  it('have ids of their own, and let a client come back after each, in any modes, with the rest once', () => {
    for (const log of [plain(), withTool(), asks(), answered()])
      for (const modes of [allModes, ['messages-tuple'], ['values'], ['updates', 'messages-tuple']] as const) {
        const frames = translate(log.events, { modes });
        expect(new Set(frames.map(({ id }) => id)).size).toBe(frames.length);
        for (const [index, { id }] of frames.entries()) {
          const rest = translate(log.events, { modes, from: readPosition(id) ?? beginning });
          expect(rest).toEqual(frames.slice(index + 1));
        }
      }
  });

  it('let a client come back in the middle of a reply that it gets in one piece then', () => {
    const late = user(new Log(), 'Hello?').begin().reply('Hello, world.', 'Hm.').complete();
    const seen = translate(plain().events).slice(0, 4);
    const rest = translate(late.events, { from: readPosition(seen.at(-1)?.id ?? '') ?? beginning });
    expect(join([...seen, ...rest])).toEqual({ msg_1: 'Hello, world.' });
  });

  it('use the same ids in each set of modes', () => {
    const inAll = new Map(translate(withTool().events).map(({ id, event }) => [id, event]));
    for (const mode of allModes)
      for (const { id, event } of translate(withTool().events, { modes: [mode] })) expect(inAll.get(id)).toBe(event);
  });

  it('show parallel calls as one piece each, and exactly one result for each', () => {
    const frames = translate(withTool().events);
    const calls = frames.map((frame) => (frame.event === 'messages' ? toChunk(frame)['tool_call_chunks'] : []));
    expect(calls.flat()).toEqual([
      { type: 'tool_call_chunk', index: 0, id: 'call_1', name: 'list_files', args: '{"path":"."}' },
      { type: 'tool_call_chunk', index: 1, id: 'call_2', name: 'read_file', args: '{}' },
    ]);
    const state = toState(frames.findLast(({ event }) => event === 'values') as Frame);
    expect(state).toMatchObject([
      { type: 'human' },
      { type: 'ai', tool_calls: [{ id: 'call_1', name: 'list_files', args: { path: '.' }, type: 'tool_call' }, { id: 'call_2' }] },
      { type: 'tool', tool_call_id: 'call_2', name: 'read_file', content: 'b', status: 'success' },
      { type: 'tool', tool_call_id: 'call_1', content: 'a' },
      { type: 'ai', content: 'Seen.' },
    ]); // prettier-ignore
    expect(short(frames)).toContain('updates tools');
  });

  it('end at a question, whose call has no result', () => {
    const frames = translate(asks().events);
    const interrupts = [{ id: 'call_1', value: { type: 'question', question: 'Which colour?', attachments: [] } }];
    expect(frames.slice(-3)).toMatchObject([
      { event: 'updates', data: { __interrupt__: interrupts } },
      { event: 'values', data: { __interrupt__: interrupts } },
      { event: 'end', data: { status: 'interrupted' } },
    ]);
    expect(toState(frames.at(-2) as Frame).map(({ type }) => type)).toEqual(['human', 'ai']);
  });

  it('begin a segment after an answer with the answer as the result of the question', () => {
    const frames = translate(answered().events, { after: answeredAfter });
    expect(short(frames).slice(0, 4)).toEqual([
      'metadata', 'messages tool Blue.', 'updates tools', 'values msg_0 msg_1 msg_9',
    ]); // prettier-ignore
    expect(frames.at(-1)).toMatchObject({ event: 'end', data: { status: 'success' } });
    const names: MessageNames = { inputs: () => undefined, others: new Map([['call_1', 'mine']]) };
    const named = translate(answered().events, { after: answeredAfter, names });
    expect(toState(named[3] as Frame)).toMatchObject([
      {},
      {},
      { type: 'tool', content: 'Blue.' },
      { type: 'human', id: 'mine' },
    ]);
  });

  it('end the first segment at the question, also when all is over', () => {
    expect(translate(answered().events)).toEqual(translate(asks().events));
  });

  it('give the ids of the client back, and the messages that one input was sent as', () => {
    const content = [text('One.'), text('Two.'), text('And two.'), text('A note.')];
    const log = new Log().fact('message.created', message('user', 'msg_0', content));
    const names: MessageNames = { inputs: () => [['first', 1], ['second', 2]], others: new Map() }; // prettier-ignore
    expect(toState(translate(log.events, { names }).at(-1) as Frame)).toMatchObject([
      { id: 'first', content: 'One.' },
      { id: 'second', content: 'Two.\n\nAnd two.\n\nA note.' },
    ]);
  });

  it('have nothing that Rondo tells the agent in the place of the user', () => {
    const names: MessageNames = { ...noNames, inputs: () => [['mine', 1]] };
    const log = user(user(new Log(), 'Hello?'), 'A file did not arrive.', { file_problems: [] }, 'msg_9');
    const frames = translate(log.complete().events, { names });
    expect(toState(frames.findLast(({ event }) => event === 'values') as Frame)).toMatchObject([
      { id: 'mine', content: 'Hello?' },
    ]);
  });

  it('have a message that the run was told on the way under its own id', () => {
    const log = user(user(new Log(), 'Paint.').begin(), 'In blue.', { queued_as: 'run_2' }, 'msg_9');
    const names: MessageNames = { inputs: () => [['first', 1]], others: new Map() };
    expect(toState(translate(log.events, { names }).at(-1) as Frame)).toMatchObject([
      { id: 'first', content: 'Paint.' },
      { id: 'msg_9', content: 'In blue.' },
    ]);
  });

  it('ask for approvals as LangChain does, and for tools of the caller by their calls', () => {
    const log = new Log().begin();
    reply(log, 'msg_1', '', [['call_1', 'execute_command', { command: 'ls' }]]);
    log.fact('run.waiting', {
      reason: 'approval',
      approvals: [{ approval_id: 'apr_1', tool_call_id: 'call_1', name: 'execute_command' }],
    });
    expect(translate(log.events).at(-2)?.data).toMatchObject({
      __interrupt__: [
        {
          id: 'apr_1',
          value: {
            action_requests: [{ name: 'execute_command', args: { command: 'ls' } }],
            review_configs: [{ action_name: 'execute_command', allowed_decisions: ['approve', 'edit', 'reject'] }],
          },
        },
      ],
    });
    const own = reply(new Log().begin(), 'msg_1', '', [['call_1', 'open_page', { url: 'x' }]]);
    own.fact('run.waiting', { reason: 'caller_tools', tool_calls: [{ tool_call_id: 'call_1', name: 'open_page' }] });
    expect(translate(own.events).at(-2)?.data).toMatchObject({
      __interrupt__: [{ id: 'call_1', value: { type: 'tool', tool_call: { name: 'open_page', args: { url: 'x' } } } }],
    });
  });

  it('go on while child runs are awaited', () => {
    const log = new Log().begin().fact('run.waiting', { reason: 'child_runs' }).reply('Here.').complete();
    expect(short(translate(log.events)).at(-1)).toBe('end');
  });

  it('show the words of complete as the last message, and not as a tool', () => {
    const log = user(new Log(), 'Go.').begin();
    reply(log, 'msg_1', 'Well.', [['call_1', 'complete', { text: 'Done.' }]]);
    const frames = translate(result(log, 'call_1', 'complete', '').complete('complete').events);
    expect(toState(frames.findLast(({ event }) => event === 'values') as Frame)).toMatchObject([
      { type: 'human' },
      { type: 'ai', content: 'Well.', tool_calls: [] },
      { type: 'ai', content: 'Done.' },
    ]);
    expect(join(frames)).toEqual({ msg_1: 'Well.', msg_of_call_1: 'Done.' });
  });

  it('withdraw a restarted reply with the state, and write the new one under its own id', () => {
    const log = user(new Log(), 'Go.')
      .begin()
      .delta('message.delta', 'msg_1', { text: 'Withdrawn' })
      .fact('iteration.restarted', { iteration: 1, message_id: 'msg_2', withdrawn_stream_ids: ['msg_1'] })
      .delta('message.delta', 'msg_2', { text: 'New' })
      .reply('New text', '', 'msg_2')
      .complete();
    const frames = translate(log.events);
    expect(short(frames).slice(2, 5)).toEqual([
      'messages AIMessageChunk Withdrawn', 'values msg_0', 'messages AIMessageChunk New',
    ]); // prettier-ignore
    expect(join(frames)['msg_2']).toBe('New text');
    for (const [index, { id }] of frames.entries())
      expect(translate(log.events, { from: readPosition(id) ?? beginning })).toEqual(frames.slice(index + 1));
  });

  it.each([
    ['run.stopped', {}, { event: 'end', data: { run_id: 'run_1', status: 'interrupted' } }],
    [
      'run.failed',
      { error: { code: 'x', message: 'It broke.' } },
      { event: 'error', data: { error: 'x', message: 'It broke.' } },
    ],
    ['run.completed', { finish_reason: 'max_iterations' }, { event: 'error', data: { error: 'GraphRecursionError' } }],
  ] as const)('end at %s, and have nothing after it', (type, data, last) => {
    const log = new Log().begin().delta('message.delta', 'msg_1', { text: 'Half' }).fact(type, data).begin();
    expect(translate(log.events, { modes: [] }).at(-1)).toMatchObject(last);
  });

  it('never skip what was deleted', () => {
    const gap = { ...envelope, seq: null, type: 'stream.gap', data: { from: 1, to: 9 } } as unknown as SubscriberEvent;
    expect(translate([gap]).at(-1)).toMatchObject({ event: 'error', data: { error: 'log_trimmed' } });
  });
});
