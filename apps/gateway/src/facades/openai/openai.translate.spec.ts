import { runId } from '@rondo/contract';
import type { RecordedFact } from '@rondo/contract';
import type { SubscriberEvent } from '../../live/stream-notices';
import { RecordedLog as Log, envelope } from '../testing/recorded-log';
import { ChatTranslator } from './openai.chat';
import { findSegmentStarts } from './openai-ids';
import { withApproved } from './openai.objects';
import { toText } from './openai.items';
import { type Frame, type ResponseOptions, ResponseTranslator, skipTo } from './openai.translate';

const usual: ResponseOptions = {
  runId: runId.parse('run_1'),
  after: 0,
  head: { id: 'resp_1' },
  callerTools: new Set(),
  declaresAsk: false,
};

const usage = (finish_reason = 'stop') => ({
  finish_reason,
  input_tokens: 3,
  cached_tokens: 1,
  output_tokens: 2,
  cost_usd: 0,
  cache_write_tokens: 1,
  reasoning_tokens: 1,
});

/** All frames of a log, in an order of numbers that rises. */
function translate(log: Log, options: Partial<ResponseOptions> = {}) {
  const translator = new ResponseTranslator({ ...usual, ...options });
  const frames = [...translator.begin(), ...log.events.flatMap((event) => translator.translate(event))];
  const numbers = frames.map(({ sequence_number: number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  return { frames, response: translator.response, isOver: translator.isOver };
}

const short = (frames: readonly Frame[]): string[] =>
  frames
    .slice(2)
    .map(({ type, delta, output_index: index }) =>
      [type.replace('response.', ''), index, delta]
        .filter((part) => typeof part === 'string' || typeof part === 'number')
        .join(' '),
    );

/** Everything but the deltas, with its numbers. */
const structure = (frames: readonly Frame[]): string[] =>
  frames.flatMap(({ type, sequence_number: number }) => (type.endsWith('text.delta') ? [] : [`${type} ${number}`]));

const textIn = (frames: readonly Frame[]): string =>
  frames.map(({ type, delta }) => (type === 'response.output_text.delta' ? String(delta) : '')).join('');

const text = 'Hello, world.';
const thought = 'Hm, well.';

/** A reply of which that much came in deltas, and a call that was sent while it was written. */
function replied(thoughts: number, words: number): Log {
  const log = new Log().begin();
  if (thoughts > 0) log.delta('reasoning.delta', 'msg_1', { text: thought.slice(0, thoughts) });
  log.fact('mcp.skipped', {});
  for (let at = 0; at < words; at += 4)
    log.delta('message.delta', 'msg_1', { text: text.slice(at, Math.min(words, at + 4)) });
  return log
    .reply(text, thought)
    .fact('usage.recorded', usage('tool_calls'))
    .plan('call_1', 'list_files', { path: '.' })
    .fact('tool.started', { tool_call_id: 'call_1', name: 'list_files' })
    .result('call_1', 'list_files', 'a b')
    .complete();
}

describe('responses', () => {
  it('have reasoning, a message and a call, each in items of its own', () => {
    const { frames, response } = translate(replied(thought.length, 8));
    expect(short(frames)).toEqual([
      'output_item.added 0', 'reasoning_summary_part.added 0', 'reasoning_summary_text.delta 0 Hm, well.',
      'reasoning_summary_text.done 0', 'reasoning_summary_part.done 0', 'output_item.done 0',
      'output_item.added 1', 'content_part.added 1', 'output_text.delta 1 Hell', 'output_text.delta 1 o, w',
      'output_text.delta 1 orld.', 'output_text.done 1', 'content_part.done 1', 'output_item.done 1',
      'output_item.added 2', 'mcp_call.in_progress 2', 'mcp_call_arguments.delta 2 {"path":"."}',
      'mcp_call_arguments.done 2', 'mcp_call.completed 2', 'output_item.done 2', 'completed',
    ]); // prettier-ignore
    const done = frames.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
    expect(response.output).toEqual(done);
    expect(response).toMatchObject({
      status: 'completed',
      usage: {
        ...{ input_tokens: 3, output_tokens: 2, total_tokens: 5 },
        input_tokens_details: { cached_tokens: 1, cache_write_tokens: 1 },
        output_tokens_details: { reasoning_tokens: 1 },
      },
    });
  });

  it('have the same numbers, in whatever pieces the text came, and are resumed at each of them', () => {
    const { frames: stored } = translate(replied(0, 0));
    for (let known = 0; known <= text.length; known += 1) {
      const { frames } = translate(replied(known === 0 ? 0 : thought.length, known));
      expect(structure(frames)).toEqual(structure(stored));
      for (const { sequence_number: number } of frames) {
        const seen = frames.filter((frame) => frame.sequence_number <= number);
        const rest = skipTo(number, stored);
        expect(textIn(seen) + textIn(rest)).toBe(text);
        expect(structure([...seen, ...rest])).toEqual(structure(stored));
      }
    }
  });

  it('show calls within a reply after it, also for a client that came later', () => {
    const parts = (isLive: boolean) => {
      const log = new Log().begin();
      if (isLive) log.delta('message.delta', 'msg_1', { text: 'One.' });
      log
        .reply('One.')
        .plan('call_1', 'list_files')
        .fact('tool.started', { tool_call_id: 'call_1', name: 'list_files' });
      if (isLive) log.delta('message.delta', 'msg_1p01', { text: 'Two.' });
      log.result('call_1', 'list_files', 'x');
      return log.reply('Two.', '', 'msg_1p01').fact('usage.recorded', usage()).complete();
    };
    const [live, late] = [translate(parts(true)), translate(parts(false))];
    expect(structure(live.frames)).toEqual(structure(late.frames));
    expect(live.response.output.map(({ type }) => type)).toEqual(['message', 'message', 'mcp_call']);
  });

  it('close what was withdrawn, and do not have it in the end', () => {
    const log = new Log()
      .begin()
      .delta('message.delta', 'msg_1', { text: 'Withdrawn' })
      .fact('iteration.restarted', { iteration: 1, message_id: 'msg_2', withdrawn_stream_ids: ['msg_1'] })
      .delta('message.delta', 'msg_2', { text: 'New' })
      .reply('New text', '', 'msg_2')
      .complete();
    const { frames, response } = translate(log);
    expect(frames.find(({ type }) => type === 'response.output_item.done')?.['item']).toMatchObject({
      status: 'incomplete',
      content: [{ text: 'Withdrawn' }],
    });
    expect(response.output).toMatchObject([{ status: 'completed', content: [{ text: 'New text' }] }]);
  });

  const question = { text: 'Which colour?', attachments: [], tool_call_id: 'call_1' };
  const asks = () => new Log().begin().plan('call_1', 'ask', question).fact('run.waiting', { reason: 'ask', question });

  it('are over at a question, which is a message or the function that the client declared', () => {
    const { response, isOver } = translate(asks());
    expect([isOver, response]).toMatchObject([
      true,
      { status: 'completed', output: [{ content: [{ text: 'Which colour?' }] }] },
    ]);
    expect(translate(asks(), { declaresAsk: true }).response.output).toMatchObject([
      { type: 'function_call', name: 'ask', call_id: 'call_1' },
    ]);
  });

  const callsClient = (started: boolean) => {
    const log = new Log().begin().plan('call_1', 'open_page', { url: 'x' });
    if (started) log.fact('tool.started', { tool_call_id: 'call_1', name: 'open_page' });
    return log;
  };

  it('hand a call to the client when it is sent, and are over then', () => {
    const options = { callerTools: new Set(['open_page']) };
    expect(translate(callsClient(false), options).response.output).toEqual([]);
    const { response, isOver } = translate(callsClient(true).fact('run.waiting', { reason: 'caller_tools' }), options);
    expect(isOver).toBe(true);
    expect(response.output).toMatchObject([{ type: 'function_call', arguments: '{"url":"x"}', status: 'completed' }]);
  });

  it('pause while child runs are awaited', () => {
    expect(translate(new Log().begin().fact('run.waiting', { reason: 'child_runs' })).isOver).toBe(false);
  });

  it('ask for approvals, and show the call that was approved in the next response', () => {
    const planned = new Log().begin().plan('call_1', 'execute_command', { command: 'ls' });
    const approvals = [{ approval_id: 'apr_1', tool_call_id: 'call_1', name: 'execute_command' }];
    const asked = translate(planned.fact('run.waiting', { reason: 'approval', approvals }));
    expect(asked.response).toMatchObject({
      status: 'completed',
      output: [
        { type: 'mcp_call', status: 'incomplete' },
        { type: 'mcp_approval_request', id: 'mcpr_1_1', name: 'execute_command', arguments: '{"command":"ls"}' },
      ],
    });
    expect(toText(asked.response)).toBe('May execute_command be called? Decide it in the console.');

    const log = planned.result('call_1', 'execute_command', 'a.txt');
    const options = withApproved({ ...usual, after: 3 }, log.events as RecordedFact[]);
    log.events.splice(0, 3);
    expect(translate(log, options).response.output).toMatchObject([
      { type: 'mcp_call', approval_request_id: 'mcpr_1_1', status: 'completed', output: 'a.txt' },
    ]);
  });

  it.each([
    ['budget', 'max_output_tokens', 'raise it with POST /v1/runs/{id}/budget'],
    ['elicitation', 'waiting_elicitation', 'Which one? Answer it in the console'],
    ['tool_unknown', 'waiting_tool_unknown', 'Which one? Say it in the console'],
  ])('end as incomplete at a wait for %s, and say where it is ended', (reason, why, words) => {
    const question = { text: 'Which one?', attachments: [], tool_call_id: 'call_1' };
    const given = reason === 'budget' ? { reason } : { reason, question };
    const { response } = translate(new Log().begin().fact('run.waiting', given));
    expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason: why } });
    expect(toText(response)).toContain(words);
  });

  it('show the words of complete as the last message', () => {
    const log = new Log().begin().plan('call_1', 'complete', { text: 'Done.' }).result('call_1', 'complete', '');
    expect(translate(log.complete('complete')).response.output).toMatchObject([{ content: [{ text: 'Done.' }] }]);
  });

  it.each([
    ['run.stopped', {}, 'incomplete', { status: 'cancelled' }],
    ['run.failed', { error: { code: 'x', message: 'It broke.' } }, 'failed', { error: { message: 'It broke.' } }],
    [
      'run.completed',
      { finish_reason: 'length' },
      'incomplete',
      { incomplete_details: { reason: 'max_output_tokens' } },
    ],
    ['run.completed', { finish_reason: 'budget_exceeded' }, 'incomplete', { status: 'incomplete' }],
  ] as const)('end at %s %j', (type, data, last, expected) => {
    const log = new Log().begin().delta('message.delta', 'msg_1', { text: 'Half' }).fact(type, data).begin();
    const { frames, response } = translate(log);
    expect(short(frames).at(-1)).toBe(last);
    expect(response).toMatchObject({ ...expected, output: [{ status: 'incomplete' }] });
  });

  it('never skip what was deleted', () => {
    const gap = { ...envelope, seq: null, type: 'stream.gap', data: { from: 1, to: 9 } } as unknown as SubscriberEvent;
    expect(new ResponseTranslator(usual).translate(gap).map(({ type }) => type)).toEqual(['response.failed']);
  });

  it('ask in words with a tool that the client has not declared', () => {
    const question = { tool_call_id: 'call_1', text: 'Log in, please.', attachments: [] };
    const log = new Log()
      .begin()
      .plan('call_1', 'web_browser_takeover', { text: question.text })
      .fact('run.waiting', { reason: 'ask', question });
    const { output } = translate(log, { declaresAsk: true }).response;
    expect(output).toMatchObject([{ type: 'message', content: [{ text: 'Log in, please.' }] }]);
  });

  it('begin again after each answered question', () => {
    const log = asks().fact('run.resumed', { reason: 'input' }).begin().fact('run.waiting', { reason: 'caller_tools' });
    expect(findSegmentStarts(log.events as RecordedFact[])).toEqual([0, 3]);
  });
});

describe('chunks of a chat', () => {
  const chat = (log: Log, options: Partial<ResponseOptions> = {}) => {
    const translator = new ChatTranslator({ id: 'chatcmpl_1' }, false);
    return [...translator.begin(), ...translate(log, options).frames.flatMap((frame) => translator.translate(frame))];
  };
  const choices = (chunks: readonly object[]) =>
    chunks.map((chunk) => (chunk as { choices?: { delta: object; finish_reason: string | null }[] }).choices?.[0]);

  it('are the texts, without calls of tools that Rondo runs', () => {
    const chunks = choices(chat(replied(0, 0)));
    expect(chunks.map((choice) => choice?.delta)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: text },
      {},
    ]);
    expect(chunks.at(-1)?.finish_reason).toBe('stop');
  });

  it('are calls of functions of the client', () => {
    const log = new Log().begin().plan('call_1', 'open_page');
    log
      .fact('tool.started', { tool_call_id: 'call_1', name: 'open_page' })
      .fact('run.waiting', { reason: 'caller_tools' });
    const chunks = choices(chat(log, { callerTools: new Set(['open_page']) }));
    expect(chunks.at(-2)?.delta).toEqual({
      tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'open_page', arguments: '{}' } }],
    });
    expect(chunks.at(-1)?.finish_reason).toBe('tool_calls');
  });

  it('end with an error where the run failed or was stopped', () => {
    const failed = new Log().begin().fact('run.failed', { error: { code: 'x', message: 'It broke.' } });
    expect(chat(failed).at(-1)).toMatchObject({ error: { message: 'It broke.' } });
    expect(chat(new Log().begin().fact('run.stopped', {})).at(-1)).toMatchObject({ error: { code: 'run_stopped' } });
  });
});
