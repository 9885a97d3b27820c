import type { SubscriberEvent } from '../../live/stream-notices';
import { RecordedLog as Log, envelope } from '../testing/recorded-log';
import { SunaTranslator } from './suna.translate';

interface Shown {
  readonly type: string;
  readonly sequence?: number;
  readonly status?: string;
  readonly message?: string;
  readonly message_id?: string | null;
  readonly content: Record<string, string>;
  readonly metadata: Record<string, string>;
}

/** Clients compare this text with the whole line. */
const completed = '{"type": "status", "status": "completed", "message": "Agent run completed successfully"}';

function readLines({ events }: Log, lastSeq = 0): string[] {
  const translator = new SunaTranslator(lastSeq);
  const lines = events.flatMap((event) => translator.translate(event));
  expect(translator.isOver).toBe(/^\{"type": ?"status", ?"status"/.test(lines.at(-1) ?? ''));
  return lines;
}

const translate = (log: Log, lastSeq?: number): Shown[] =>
  readLines(log, lastSeq).map((line) => {
    const row = JSON.parse(line) as Omit<Shown, 'content' | 'metadata'> & { content?: string; metadata?: string };
    const read = (json = '{}') => JSON.parse(json) as Record<string, string>;
    return { ...row, content: read(row.content), metadata: read(row.metadata) };
  });

/** The kind of each line, with what tells it apart. */
const short = (rows: readonly Shown[]): string[] =>
  rows.map(({ type, status, content, metadata }) => {
    if (status !== undefined) return `end ${status}`;
    if (type === 'status') return [content['status_type'], content['function_name']].filter(Boolean).join(' ');
    return [type, metadata['stream_status'], content['content']].filter((text) => text !== undefined).join(' ');
  });

const begun = () => new Log().fact('run.started', {}).begin();
const asked = () =>
  begun()
    .plan('call_1', 'ask', { text: 'Which colour?' })
    .fact('run.waiting', {
      reason: 'ask',
      question: { text: 'Which colour?', attachments: [], tool_call_id: 'call_1' },
    });

describe('lines of Suna', () => {
  it('show text in pieces, then the whole message, and end with the line that clients compare', () => {
    const log = begun()
      .delta('reasoning.delta', 'msg_1', { text: 'Hm.' })
      .delta('message.delta', 'msg_1', { text: 'Hello, ' })
      .delta('message.delta', 'msg_1', { text: 'world.' })
      .reply('Hello, world.', 'Hm.')
      .complete();
    const rows = translate(log);
    expect(short(rows)).toEqual([
      'thread_run_start', 'assistant_response_start', 'assistant chunk Hello, ', 'assistant chunk world.',
      'assistant complete Hello, world.', 'finish', 'thread_run_end', 'end completed',
    ]); // prettier-ignore
    expect(rows.slice(0, -1).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(rows[4]).toMatchObject({ message_id: 'msg_1', thread_id: 'thr_1', metadata: { thread_run_id: 'run_1' } });
    expect(readLines(log).at(-1)).toBe(completed);
  });

  it('show calls with their arguments and results, each with its index', () => {
    const failure = { tool_call_id: 'call_1', name: 'list_files', result: { success: false, output: '', error: 'no' } };
    const rows = translate(
      begun()
        .plan('call_1', 'list_files', { path: '.' })
        .plan('call_2', 'read_file')
        .result('call_2', 'read_file', 'b')
        .fact('tool.failed', failure)
        .fact('tool.unknown', { tool_call_id: 'call_3', name: 'send', reason: 'It is not known.' })
        .fact('tool.unknown', { tool_call_id: 'call_3', name: 'send', reason: 'Not known.', message_id: 'msg_9' }),
    );
    expect(short(rows).slice(2)).toEqual([
      'tool_started list_files', 'tool_started read_file', 'tool b', 'tool_completed read_file', 'tool no',
      'tool_failed list_files', 'tool Not known.', 'tool_failed send',
    ]); // prettier-ignore
    expect(rows[2]?.content).toMatchObject({ tool_index: 0, arguments: { path: '.' }, tool_call_id: 'call_1' });
    expect(rows[5]?.content).toMatchObject({ tool_index: 1 });
  });

  it('end at a question, and only at the one that waits for its answer', () => {
    expect(short(translate(asked())).at(-1)).toBe('end completed');

    const answered = asked().fact('run.resumed', {}).begin('msg_2').reply('Blue.', '', 'msg_2');
    expect(short(translate(answered, 4))).not.toContain('assistant complete Blue.');
    expect(short(translate(answered, 7)).at(-1)).toBe('assistant complete Blue.');
    const again = answered.plan('call_2', 'ask').fact('run.waiting', { reason: 'ask' });
    expect(short(translate(again, 9)).slice(-3)).toEqual(['tool_started ask', 'thread_run_end', 'end completed']);
  });

  it('say what others have to do, and go on', () => {
    const waiting = () => begun().fact('run.waiting', { reason: 'approval', approvals: [] });
    const said = 'assistant complete The run waits for an approval: decide it in the console.';
    expect(short(translate(waiting())).at(-1)).toBe(said);
    const decided = waiting().fact('run.resumed', {}).reply('Done.').complete();
    expect(short(translate(decided))).toContain(said);
    const later = short(translate(decided, 6));
    expect(later).not.toContain(said);
    expect(later.at(-1)).toBe('end completed');
  });

  it.each(['budget_exceeded', 'max_iterations', 'loop_detected', 'error'])(
    'do not call a run completed that ended with %s',
    (reason) => {
      const [said, end] = translate(begun().complete(reason)).slice(-2);
      expect(said?.content).toMatchObject({ status_type: 'error', message: expect.stringContaining(reason) as string });
      expect(end).toMatchObject({ status: 'error', message: expect.stringContaining(reason) as string });
    },
  );

  it('end with a stop and with a failure', () => {
    expect(short(translate(begun().fact('run.stopped', { reason: null })))).toContain('end stopped');
    const failed = translate(begun().fact('run.failed', { error: { code: 'x', message: 'It broke.' } }));
    expect(failed.at(-1)).toMatchObject({ status: 'error', message: 'It broke.' });
  });

  it('show again what was withdrawn and said anew', () => {
    const log = begun()
      .delta('message.delta', 'msg_1', { text: 'Hel' })
      .fact('iteration.restarted', { withdrawn_stream_ids: ['msg_1'] });
    const anew = { ...envelope, seq: null, type: 'message.delta', stream_id: 'msg_1', offset: 0, data: { text: 'Hi' } };
    log.events.push(anew as unknown as SubscriberEvent);
    expect(short(translate(log)).slice(-2)).toEqual(['assistant chunk Hel', 'assistant chunk Hi']);
  });

  it('end with an error where facts were deleted', () => {
    const log = new Log();
    log.events.push({
      ...envelope,
      seq: null,
      type: 'stream.gap',
      data: { from: 1, to: 5 },
    } as unknown as SubscriberEvent);
    expect(translate(log)).toMatchObject([{ status: 'error' }]);
  });
});
