import type { SubscriberEvent } from '../../live/stream-notices';
import { RecordedLog as Log } from '../testing/recorded-log';
import { LangGraphThreadTranslator, type ThreadFrame } from './langgraph-thread.translate';
import { MessageState, noNames } from './langgraph.messages';

const block = 2 ** 20;

function translate(events: readonly SubscriberEvent[], since = -1, about: object = {}): ThreadFrame[] {
  const followed = {
    runId: 'run_1' as never,
    graphName: 'rondo',
    place: 1,
    factsBefore: 0,
    since,
    overThrough: 0,
    ...about,
  };
  const translator = new LangGraphThreadTranslator(followed, new MessageState(noNames));
  return events.flatMap((event) => translator.translate(event)) as ThreadFrame[];
}

type Data = Readonly<Record<string, unknown>> & {
  readonly event?: string;
  readonly delta?: { readonly text?: string };
};
const toData = ({ params }: ThreadFrame) => params.data as Data;
const short = (frames: readonly ThreadFrame[]): string[] =>
  frames.map((frame) => (frame.method === 'values' ? 'values' : (toData(frame).event ?? frame.method)));
const join = (frames: readonly ThreadFrame[]): string =>
  frames.map((frame) => toData(frame).delta?.text ?? '').join('');
const ids = (frames: readonly ThreadFrame[]): string[] => frames.map(({ event_id: id }) => id);

const words = 'One two three four five six seven eight nine ten 🚀🚀🚀🚀🚀🚀🚀🚀 eleven twelve.';
const said = (log: Log) =>
  log.fact('message.created', {
    message: { id: 'msg_0', type: 'user', content: [{ type: 'text', text: 'Go.' }], metadata: {}, run_id: 'run_1' },
  });

/** The same reply, its deltas cut after so many units; none where that is absent. */
function reply(length?: number): SubscriberEvent[] {
  const log = said(new Log().fact('run.created', {})).begin();
  for (const [type, text] of [
    ['reasoning.delta', 'Hm, let me think about it.'],
    ['message.delta', words],
  ] as const)
    // prettier-ignore
    for (const piece of length === undefined ? [] : (text.match(new RegExp(`.{1,${length}}`, 'gsu')) ?? []))
      log.delta(type, 'msg_1', { text: piece });
  return log.reply(words, 'Hm, let me think about it.').complete().events;
}

describe('frames of a thread', () => {
  it('show a reply in blocks, and the state after each message', () => {
    const frames = translate(reply(7));
    expect(short(frames).filter((event) => event !== 'content-block-delta')).toEqual([
      'running', 'values',
      'message-start', 'content-block-start', 'content-block-finish', 'content-block-start', 'content-block-finish',
      'message-finish', 'values', 'completed',
    ]); // prettier-ignore
    expect(join(frames)).toBe(words);
    const ends = frames.filter((frame) => toData(frame).event === 'content-block-finish');
    expect(ends.map(toData)).toMatchObject([
      { index: 0, content: { type: 'reasoning', reasoning: 'Hm, let me think about it.' } },
      { index: 1, content: { type: 'text', text: words } },
    ]);
    expect(frames[0]?.event_id).toBe('synth:run_1:1.1.0');
  });

  it.each([1, 3, 16, 50, undefined])('are the same for deltas of %s units, and rise', (length) => {
    const frames = translate(reply(length));
    expect(ids(frames)).toEqual(ids(translate(reply(7))));
    expect(new Set(ids(frames)).size).toBe(frames.length);
    expect(frames.map(toData)).toEqual(translate(reply(7)).map(toData));
    const order = frames.map(({ seq }) => seq);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(new Set(order).size).toBe(order.length);
  });

  it('count the facts of the runs before', () => {
    const [first] = translate(reply(7), -1, { factsBefore: 40 });
    expect(first?.seq).toBe(41 * block);
  });

  it('go on after each frame with the rest, and nothing twice', () => {
    const frames = translate(reply(5));
    for (const [index, { seq }] of frames.entries()) {
      if (seq < 4 * block) expect(ids(translate(reply(9), seq))).toEqual(ids(frames.slice(index + 1))); // it is written
      expect(ids(translate(reply(), seq))).toEqual(ids(frames.slice(index + 1)));
    }
  });

  it('send the text before a call that was carried out while the reply was written', () => {
    const log = said(new Log().fact('run.created', {})).begin().delta('message.delta', 'msg_1', { text: words });
    log.fact('tool.started', { tool_call_id: 'call_0', name: 'read_file' });
    const begun = translate(log.events);
    const { seq } = begun.at(-1) as ThreadFrame;
    const rest = translate(log.reply(words).complete().events, seq);
    expect(join(rest)).toBe(words);
  });

  it('say how a call went, and hide the closing call', () => {
    const log = said(new Log().fact('run.created', {})).begin();
    const call = { type: 'tool_call', tool_call_id: 'call_1', name: 'read_file', arguments: { path: 'a' } };
    log.fact('message.created', { message: { id: 'msg_1', type: 'assistant', content: [call], metadata: {} } });
    log.fact('tool.started', { tool_call_id: 'call_1', name: 'read_file' }).result('call_1', 'read_file', 'A');
    log.fact('tool.started', { tool_call_id: 'call_2', name: 'complete' }).result('call_2', 'complete', '');
    const frames = translate(log.events).slice(2);
    expect(short(frames)).toEqual([
      'message-start', 'content-block-start', 'content-block-finish', 'message-finish', 'values',
      'tool-started', 'tool-finished',
    ]); // prettier-ignore
    expect(toData(frames[2] as ThreadFrame)).toMatchObject({ content: { type: 'tool_call', id: 'call_1' } });
    expect(toData(frames[5] as ThreadFrame)).toMatchObject({ tool_name: 'read_file', input: { path: 'a' } });
    expect(toData(frames[6] as ThreadFrame)).toMatchObject({ tool_call_id: 'call_1', output: 'A' });
  });

  it('withdraw a reply that is asked for again, for those who have seen a part of it', () => {
    const log = said(new Log().fact('run.created', {})).begin().delta('message.delta', 'msg_1', { text: words });
    log.fact('iteration.restarted', { withdrawn_stream_ids: ['msg_1'] }).begin('msg_2');
    log.reply('Again.', '', 'msg_2').complete();
    expect(short(translate(log.events))).toContain('error');
    const late = translate(log.events.filter(({ seq }) => seq !== null));
    expect(short(late)).not.toContain('error');
    expect(join(late)).toBe('Again.');
  });

  it('ask, say that there is an answer, and go on as another run', () => {
    const question = { text: 'Which?', attachments: [], tool_call_id: 'call_1' };
    const log = said(new Log().fact('run.created', {})).fact('run.waiting', { reason: 'ask', question });
    log.fact('run.resumed', { reason: 'input' }).complete();
    const frames = translate(log.events).slice(2);
    expect(short(frames)).toEqual(['input.requested', 'interrupted', 'running', 'input.answered', 'completed']);
    expect(frames.map(toData)).toMatchObject([
      { interrupt_id: 'call_1', payload: { type: 'question', question: 'Which?' } },
      {},
      {},
      { interrupt_ids: ['call_1'] },
      { graph_name: 'rondo' },
    ]);
    expect(frames[2]?.event_id).toBe('synth:run_1.3:1.4.0');
    const late = translate(log.events, -1, { overThrough: 5 }).slice(2);
    expect(ids(late)).toEqual(ids(frames.slice(2)));
  });

  it('say why a run failed, and that a stopped one was interrupted', () => {
    const failed = new Log().fact('run.created', {}).fact('run.failed', { error: { code: 'x', message: 'Broken.' } });
    expect(toData(translate(failed.events).at(-1) as ThreadFrame)).toMatchObject({ event: 'failed', error: 'Broken.' });
    const stopped = new Log().fact('run.created', {}).fact('run.stopped', {});
    expect(short(translate(stopped.events))).toEqual(['running', 'interrupted']);
    expect(short(translate(new Log().fact('run.created', {}).complete('max_iterations').events)).at(-1)).toBe('failed');
  });
});
