import type { RunId } from '@rondo/contract';
import type { SubscriberEvent } from '../../live/stream-notices';
import { RecordedLog as Log, envelope } from '../testing/recorded-log';
import {
  type AnswerPoint,
  type Progress,
  ProgressTranslator,
  readEventId,
  toPosition,
  writeEventId,
} from './mcp.translate';

function translate(
  { events }: Log,
  { seq = 0, units = 0, isTask = false } = {},
): { progress: Progress[]; isOver: boolean } {
  const translator = new ProgressTranslator(toPosition({ seq, units }), { isTask });
  const after = events.filter((event) => ('after_seq' in event ? event.after_seq >= seq : (event.seq ?? 0) > seq));
  return { progress: after.flatMap((event) => translator.translate(event)), isOver: translator.isOver };
}

const words = (log: Log, options = {}) => translate(log, options).progress.map(({ message }) => message);

/** A whole run with text in pieces, a tool, and text that only its fact has. */
const whole = () =>
  new Log()
    .fact('run.started', {})
    .begin()
    .delta('message.delta', 'msg_1', { text: 'I look' })
    .delta('message.delta', 'msg_1', { text: ` around.\n${'On. '.repeat(40)}` })
    .reply(`I look around.\n${'On. '.repeat(40)}And on.`)
    .plan('call_1', 'list_files')
    .fact('tool.started', { tool_call_id: 'call_1', name: 'list_files', attempt: 1, store: null })
    .result('call_1', 'list_files', 'a')
    .begin('msg_2')
    .reply('Done.', 'Hm.', 'msg_2')
    .complete();

describe('progress', () => {
  it('tells what a run does, and the line that it writes', () => {
    const told = words(whole());
    expect(told).toEqual([
      'The run has started.',
      'I look',
      expect.stringMatching(/^On\. On\. /),
      'list_files runs.',
      'list_files has ended.',
      'Hm.',
    ]);
  });

  it('rises, is the same for readers who came later, and ends with the run', () => {
    const { progress, isOver } = translate(whole());
    const numbers = progress.map((each) => each.progress);
    expect(isOver).toBe(true);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    for (const [index, { position }] of progress.entries()) {
      const rest = translate(whole(), position).progress.map((each) => each.progress);
      expect(rest).toEqual(numbers.slice(index + 1));
    }
  });

  it.each([
    ['ask', { question: { text: 'Which?', attachments: [], tool_call_id: 'call_1' } }],
    ['approval', {}],
    ['budget', {}],
    ['tool_unknown', {}],
    ['caller_tools', {}],
  ])('ends where the run waits: %s', (reason, data) => {
    const log = new Log()
      .begin()
      .fact('run.waiting', { reason, ...data })
      .fact('run.resumed', { reason: 'input' });
    expect(translate(log)).toMatchObject({ progress: [], isOver: true });
    expect(words(log, { isTask: true })).toEqual(['It waits for a person.', 'The run goes on.']);
  });

  it.each(['run.completed', 'run.failed', 'run.stopped'] as const)(
    'ends with %s, of which it tells nothing',
    (type) => {
      for (const isTask of [true, false])
        expect(translate(new Log().fact(type, {}).begin(), { isTask })).toEqual({ progress: [], isOver: true });
    },
  );

  it('goes on while child runs are awaited, a reply is withdrawn, or another model stands in', () => {
    const log = new Log()
      .begin()
      .delta('message.delta', 'msg_1', { text: 'Withdrawn' })
      .fact('iteration.restarted', { iteration: 1, message_id: 'msg_2', withdrawn_stream_ids: ['msg_1'] })
      .fact('model.fell_back', {})
      .fact('run.waiting', { reason: 'child_runs' })
      .delta('message.delta', 'msg_2', { text: 'New' });
    expect(words(log)).toEqual([
      'Withdrawn',
      'The reply is written anew.',
      'Another model stands in.',
      'It waits for its child runs.',
      'New',
    ]);
    expect(translate(log).isOver).toBe(false);
  });

  it('never skips what was deleted', () => {
    const gap = { ...envelope, seq: null, type: 'stream.gap', data: { from: 1, to: 9 } } as unknown as SubscriberEvent;
    const translator = new ProgressTranslator(toPosition({ seq: 0, units: 0 }), { isTask: false });
    expect(translator.translate(gap)).toMatchObject([{ message: 'Earlier events of the run have been deleted.' }]);
  });
});

describe('the id of an event', () => {
  const point: AnswerPoint = {
    runId: 'run_1' as RunId,
    requestId: 'ä 1',
    progressToken: 0,
    isTask: true,
    until: 1_800_000_000_000,
    seq: 17,
    units: 5,
  };

  it.each([point, { ...point, requestId: 3, progressToken: undefined, until: null }])('has all of %j', (each) => {
    const id = writeEventId(each);
    expect(id).toMatch(/^[\w-]+$/);
    expect(readEventId(id)).toEqual(each);
  });

  it.each(['', '17', 'bm8', Buffer.from('["run_1",1,null,false,null,-1,0]').toString('base64url')])(
    'is no other text: %s',
    (text) => {
      expect(readEventId(text)).toBeUndefined();
    },
  );
});
