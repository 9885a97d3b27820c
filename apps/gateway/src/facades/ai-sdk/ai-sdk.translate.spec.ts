import type { SubscriberEvent } from '../../live/stream-notices';
import { RecordedLog as Log, envelope } from '../testing/recorded-log';
import { AiSdkTranslator, type Frame, type TranslatorOptions } from './ai-sdk.translate';

const usual = { callerTools: new Set<string>(), approvals: false, resets: false, waitedThrough: 0 };

function translate({ events }: Log, options: Partial<TranslatorOptions> = {}): Frame[] {
  const translator = new AiSdkTranslator({ ...usual, ...options });
  const frames = events.flatMap((event) => translator.translate(event));
  expect(translator.isOver).toBe(['finish', 'abort', 'error'].includes(frames.at(-1)?.type ?? ''));
  return frames;
}

const short = (frames: readonly Frame[]): string[] =>
  frames.map(({ type, ...fields }) => {
    const texts = ['toolCallId', 'delta', 'inputTextDelta', 'finishReason', 'errorText'].map((name) => fields[name]);
    return [type, ...texts.filter((text) => typeof text === 'string')].join(' ');
  });

/** Texts by the ids of their parts. */
function texts(frames: readonly Frame[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { type, id, delta } of frames)
    if (type.endsWith('-delta') && typeof id === 'string') found[id] = (found[id] ?? '') + String(delta);
  return found;
}

const approval = { approval_id: 'apr_1', tool_call_id: 'call_1', name: 'execute_command' };
const waitsForApproval = () =>
  new Log()
    .begin()
    .plan('call_1', 'execute_command')
    .fact('approval.requested', approval)
    .fact('run.waiting', { reason: 'approval', approvals: [approval] });

describe('frames of the AI SDK', () => {
  it('show reasoning and text in parts of a step', () => {
    const log = new Log()
      .begin()
      .delta('reasoning.delta', 'msg_1', { text: 'Hm.' })
      .delta('message.delta', 'msg_1', { text: 'Hello, ' })
      .delta('message.delta', 'msg_1', { text: 'world.' })
      .reply('Hello, world.', 'Hm.')
      .complete();
    expect(short(translate(log))).toEqual([
      'start-step', 'reasoning-start', 'reasoning-delta Hm.', 'reasoning-end', 'text-start', 'text-delta Hello, ',
      'text-delta world.', 'text-end', 'finish-step', 'finish stop',
    ]); // prettier-ignore
  });

  it('have the whole text, however much of it came in deltas', () => {
    const text = 'Hello, world.';
    for (let known = 0; known <= text.length; known += 1) {
      const log = new Log().begin();
      if (known > 0) log.delta('message.delta', 'msg_1', { text: text.slice(0, known) });
      expect(texts(translate(log.reply(text).complete()))).toEqual({ 'msg_1-text': text });
    }
  });

  it('show parallel calls as executed by the provider', () => {
    const log = new Log()
      .begin()
      .delta('tool.call_delta', 'call_1', { name: 'list_files', arguments_text: '{"path":' })
      .delta('tool.call_delta', 'call_1', { name: 'list_files', arguments_text: '"."}' })
      .plan('call_1', 'list_files', { path: '.' })
      .plan('call_2', 'read_file')
      .result('call_2', 'read_file', 'b')
      .fact('tool.failed', {
        tool_call_id: 'call_1',
        name: 'list_files',
        result: { success: false, output: '', error: 'no' },
      })
      .complete();
    const frames = translate(log);
    expect(short(frames)).toEqual([
      'start-step', 'tool-input-start call_1', 'tool-input-delta call_1 {"path":', 'tool-input-delta call_1 "."}',
      'tool-input-available call_1', 'tool-input-start call_2', 'tool-input-available call_2',
      'tool-output-available call_2', 'tool-output-error call_1 no', 'finish-step', 'finish stop',
    ]); // prettier-ignore
    const ofTools = frames.filter(({ type }) => /^tool-(input-start|input-available|output)/.test(type));
    expect(ofTools.map(({ providerExecuted }) => providerExecuted)).toEqual(ofTools.map(() => true));
  });

  it('end at a question, which is a call of the client', () => {
    const log = new Log()
      .begin()
      .plan('call_1', 'ask', { text: 'Which colour?' })
      .result('call_1', 'ask', '')
      .fact('iteration.completed', { iteration: 1, finish_reason: 'ask' })
      .fact('run.waiting', {
        reason: 'ask',
        question: { text: 'Which colour?', attachments: [], tool_call_id: 'call_1' },
      })
      .fact('run.resumed', { reason: 'input' });
    const frames = translate(log);
    expect(short(frames)).toEqual([
      'start-step', 'tool-input-start call_1', 'tool-input-available call_1', 'finish-step', 'finish tool-calls',
    ]); // prettier-ignore
    expect(frames[2]).toEqual({
      type: 'tool-input-available',
      toolCallId: 'call_1',
      toolName: 'ask',
      input: { text: 'Which colour?' },
    });
  });

  it('leave tools of the caller to the client', () => {
    const log = new Log().begin().plan('call_1', 'open_page').fact('run.waiting', { reason: 'caller_tools' });
    const frames = translate(log, { callerTools: new Set(['open_page']) });
    expect(frames.filter(({ providerExecuted }) => providerExecuted !== undefined)).toEqual([]);
    expect(short(frames).at(-1)).toBe('finish tool-calls');
  });

  it('ask for approvals only a client that knows them', () => {
    expect(short(translate(waitsForApproval()))).not.toContain('tool-approval-request call_1');
    expect(short(translate(waitsForApproval(), { approvals: true })).slice(-3)).toEqual([
      'tool-approval-request call_1',
      'finish-step',
      'finish tool-calls',
    ]);
  });

  it('say as data what is waited for, where the protocol has no frame for it', () => {
    const waiting = (frames: readonly Frame[]) => frames.find(({ type }) => type === 'data-waiting');
    expect(waiting(translate(waitsForApproval()))).toMatchObject({
      data: { reason: 'approval', approvals: [approval] },
    });
    expect(waiting(translate(waitsForApproval(), { approvals: true }))).toBeUndefined();
    const question = { text: 'Which one?', attachments: [], tool_call_id: 'call_1' };
    const asked = new Log().begin().fact('run.waiting', { reason: 'elicitation', question });
    expect(waiting(translate(asked))).toMatchObject({
      data: { message: expect.stringContaining('Which one? Answer') },
    });
  });

  it('go on after a wait that was ended elsewhere', () => {
    const log = waitsForApproval().fact('approval.decided', { ...approval, outcome: 'approve' });
    const frames = short(translate(log.result('call_1', 'execute_command', 'a.txt').complete(), { waitedThrough: 4 }));
    expect(frames).toContain('tool-output-available call_1');
    expect(frames.at(-1)).toBe('finish stop');
  });

  it.each([
    [true, 'tool-output-denied call_1'],
    [false, 'tool-output-error call_1 denied'],
  ])('tell a denied call, with approvals %s', (approvals, frame) => {
    const denied = {
      tool_call_id: 'call_1',
      name: 'execute_command',
      result: { success: false, output: '', error: 'denied' },
    };
    const log = new Log().fact('approval.decided', { ...approval, outcome: 'deny' }).fact('tool.failed', denied);
    expect(short(translate(log, { approvals }))).toEqual([frame]);
  });

  it('show the words of complete as the last text, and not as a tool', () => {
    const log = new Log().begin().plan('call_1', 'complete', { text: 'Done.' }).result('call_1', 'complete', '');
    const frames = translate(log.complete('complete'));
    expect(texts(frames)).toEqual({ 'run_1-answer': 'Done.' });
    expect(short(frames).filter((frame) => frame.startsWith('tool'))).toEqual([]);
  });

  const restarted = () =>
    new Log()
      .begin()
      .delta('message.delta', 'msg_1', { text: 'Withdrawn' })
      .delta('tool.call_delta', 'call_1', { name: 'list_files', arguments_text: '{' })
      .fact('iteration.restarted', { iteration: 1, message_id: 'msg_2', withdrawn_stream_ids: ['msg_1', 'call_1'] })
      .delta('message.delta', 'msg_2', { text: 'New' })
      .reply('New text', '', 'msg_2')
      .complete();

  it('withdraw a restarted reply where the client can', () => {
    const frames = translate(restarted(), { resets: true });
    const types = frames.map(({ type }) => type);
    expect(texts(frames.slice(types.indexOf('reset-step')))).toEqual({ 'msg_2-text-1': 'New text' });
  });

  it('leave a restarted reply where it cannot, with new ids for what follows', () => {
    const frames = translate(restarted());
    expect(texts(frames)).toEqual({ 'msg_1-text': 'Withdrawn', 'msg_2-text-1': 'New text' });
    expect(short(frames)).toContain('tool-input-error call_1 The reply with this call was withdrawn.');
    expect(short(frames)).not.toContain('reset-step');
  });

  it.each([
    ['run.stopped', {}, 'abort'],
    ['run.failed', { error: { code: 'x', message: 'It broke.' } }, 'error It broke.'],
    ['run.waiting', { reason: 'budget' }, 'finish other'],
  ] as const)('end at %s, and send nothing after it', (type, data, last) => {
    const log = new Log().begin().delta('message.delta', 'msg_1', { text: 'Half' }).fact(type, data).begin();
    const frames = short(translate(log)).filter((frame) => frame !== 'data-waiting');
    expect(frames.slice(-3)).toEqual(['text-end', 'finish-step', last]);
  });

  it.each(['max_iterations', 'budget_exceeded', 'loop_detected'])(
    'end with an error where %s has cut the run off',
    (reason) => {
      const frames = translate(new Log().begin().reply('Half.').complete(reason));
      expect(short(frames).at(-1)).toBe(`error The run ended before it was done: ${reason}.`);
      expect(frames.find(({ type }) => type === 'message-metadata')).toMatchObject({
        messageMetadata: { usage: { input_tokens: 0 } },
      });
      expect(texts(frames)).toEqual({ 'msg_1-text': 'Half.' });
    },
  );

  it('go on while child runs are awaited, and after another model stands in', () => {
    const log = new Log()
      .begin()
      .fact('run.waiting', { reason: 'child_runs' })
      .fact('model.fell_back', {})
      .reply('Here.')
      .complete();
    expect(texts(translate(log))).toEqual({ 'msg_1-text': 'Here.' });
  });

  it('never skip what was deleted', () => {
    const gap = { ...envelope, seq: null, type: 'stream.gap', data: { from: 1, to: 9 } } as unknown as SubscriberEvent;
    expect(new AiSdkTranslator(usual).translate(gap).map(({ type }) => type)).toEqual(['error']);
  });

  it('use no types that AI SDK 5 does not know, unless they are asked for', () => {
    const types = [restarted(), waitsForApproval()].flatMap((log) => translate(log)).map(({ type }) => type);
    expect(types.filter((type) => /reset-step|approval|denied/.test(type))).toEqual([]);
  });
});
