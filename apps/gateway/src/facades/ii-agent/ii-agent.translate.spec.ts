import type { SubscriberEvent } from '../../live/stream-notices';
import { RecordedLog as Log, envelope } from '../testing/recorded-log';
import { type FramePlace, IiAgentTranslator, type LoggedFrame, readFrameId } from './ii-agent.translate';

const translate = ({ events }: Log, after?: FramePlace): LoggedFrame[] => {
  const translator = new IiAgentTranslator(1, after);
  return events.flatMap((event) => translator.translate(event));
};

/** The kind of each frame, with what tells it apart. */
const short = (frames: readonly LoggedFrame[]): string[] =>
  frames.map(({ type, content }) =>
    [type, content['tool_name'], content['text'] ?? content['message'] ?? content['result']].filter(Boolean).join(' '),
  );

const begun = () => new Log().fact('run.started', {}).begin();
const asked = () => begun().plan('call_1', 'ask', { text: 'Which colour?' }).fact('run.waiting', { reason: 'ask' });

describe('frames of II-Agent', () => {
  it('show replies whole, with what was thought before', () => {
    const log = begun()
      .delta('reasoning.delta', 'msg_1', { text: 'Hm.' })
      .delta('message.delta', 'msg_1', { text: 'Hello.' })
      .reply('Hello.', 'Hm.')
      .complete();
    expect(short(translate(log))).toEqual([
      'agent_thinking ```Thinking:\nHm.\n```', 'agent_thinking Hello.', 'agent_response Hello.', 'stream_complete',
    ]); // prettier-ignore
  });

  it('show a message of the user', () => {
    const message = { id: 'msg_0', type: 'user', content: [{ type: 'text', text: 'Hi.' }], metadata: {} };
    expect(short(translate(new Log().fact('message.created', { message })))).toEqual(['user_message Hi.']);
  });

  it('show calls with their input and results', () => {
    const failure = { tool_call_id: 'call_1', name: 'bash', result: { success: false, output: '', error: 'no' } };
    const frames = translate(
      begun()
        .plan('call_1', 'bash', { command: 'ls' })
        .plan('call_2', 'message_user', { text: 'I look.' })
        .result('call_2', 'message_user', 'The user can read it.')
        .fact('tool.failed', failure)
        .fact('tool.unknown', { tool_call_id: 'call_3', name: 'send', reason: 'It is not known.' })
        .fact('tool.unknown', { tool_call_id: 'call_3', name: 'send', reason: 'Not known.', message_id: 'msg_9' }),
    );
    expect(short(frames)).toEqual([
      'tool_call bash', 'tool_call message_user', 'tool_result message_user The user can read it.',
      'tool_result bash no', 'tool_result send Not known.',
    ]); // prettier-ignore
    expect(frames[0]?.content).toEqual({ tool_call_id: 'call_1', tool_name: 'bash', tool_input: { command: 'ls' } });
  });

  it('show the closing words, and end with them', () => {
    const log = begun().plan('call_1', 'complete', { answer: 'All done.' }).result('call_1', 'complete', '').complete();
    const frames = translate(log);
    expect(short(frames)).toEqual(['tool_call message_user', 'agent_response All done.', 'stream_complete']);
    expect(frames[0]?.content['tool_input']).toEqual({ text: 'All done.' });
  });

  it('end with other words where nothing was said', () => {
    expect(short(translate(begun().plan('call_1', 'complete').complete()))).toEqual([
      'agent_response Task completed', 'stream_complete',
    ]); // prettier-ignore
  });

  it('end the turn at a question, and go on after its answer', () => {
    const answered = asked().fact('run.resumed', {}).begin('msg_2').reply('Blue.', '', 'msg_2').complete();
    expect(short(translate(answered))).toEqual([
      'tool_call message_user', 'agent_response Which colour?', 'stream_complete',
      'agent_thinking Blue.', 'agent_response Blue.', 'stream_complete',
    ]); // prettier-ignore
  });

  it.each(['approval', 'caller_tools', 'budget', 'elicitation', 'tool_unknown'])(
    'tell how a wait for %s ends',
    (reason) => {
      const [frame] = translate(begun().fact('run.waiting', { reason }));
      expect(frame).toMatchObject({
        type: 'system',
        content: { message: expect.stringMatching(/console|\/v1\//) as string },
      });
    },
  );

  it.each(['budget_exceeded', 'max_iterations', 'loop_detected', 'error'])(
    'call it an error that a run ended with %s',
    (reason) => {
      expect(short(translate(begun().complete(reason)))).toEqual([expect.stringContaining(reason), 'stream_complete']);
    },
  );

  it('end with a stop and with a failure', () => {
    expect(short(translate(begun().fact('run.stopped', { reason: null })))).toEqual([
      'agent_response_interrupted The run was stopped.', 'stream_complete',
    ]); // prettier-ignore
    const failed = begun().fact('run.failed', { error: { code: 'x', message: 'It broke.' } });
    expect(short(translate(failed))).toEqual(['error It broke.', 'stream_complete']);
  });

  it('say nothing of what was withdrawn, which was not shown', () => {
    const log = begun()
      .delta('message.delta', 'msg_1', { text: 'Hel' })
      .fact('iteration.restarted', { withdrawn_stream_ids: ['msg_1'] });
    expect(translate(log)).toEqual([]);
  });

  it('say where events were deleted', () => {
    const log = new Log();
    const data = { from: 1, to: 5 };
    log.events.push({ ...envelope, seq: null, type: 'stream.gap', data } as unknown as SubscriberEvent);
    expect(translate(log)).toMatchObject([{ id: '1.5.1', type: 'error' }]);
  });

  it('have ids with which a reader has each of them once, wherever it comes back', () => {
    const log = asked().fact('run.resumed', {}).begin('msg_2').reply('Blue.', 'Hm.', 'msg_2').complete();
    const all = translate(log);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const [index, { id }] of all.entries()) expect(translate(log, readFrameId(id))).toEqual(all.slice(index + 1));
  });

  it.each(['', '0.1.1', '1.1', '1.1.1.1', 'a.1.1', '1.1.99999'])('are not named by %j', (id) => {
    expect(readFrameId(id)).toBeUndefined();
  });
});
