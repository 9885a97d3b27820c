import { RecordedLog } from '../testing/recorded-log';
import { type A2aFrame, A2aTask } from './a2a.translate';

const createTask = () =>
  new A2aTask({ taskId: 'run_1', contextId: 'ours', threadId: 'thr_1' }, '2026-01-01T00:00:00.000Z');

/** The state of a status, the text of an artifact with what it does to the pieces before, or the data of a tool. */
function shorten(frame: A2aFrame): string {
  if ('artifactUpdate' in frame) {
    const { artifact, append, lastChunk } = frame.artifactUpdate as {
      artifact: { artifactId: string; parts: { text: string }[] };
      append: boolean;
      lastChunk: boolean;
    };
    const [place, end] = [append ? '+' : '=', lastChunk ? '.' : ''];
    return `${artifact.artifactId} ${place} ${artifact.parts[0]?.text ?? ''}${end}`;
  }
  if (!('statusUpdate' in frame)) throw new Error('no update has a task');
  const { status } = frame.statusUpdate as { status: { state: string; message?: { parts: object[] } } };
  const words = (status.message?.parts ?? []).map((part) => JSON.stringify(part));
  return [status.state.replace('TASK_STATE_', ''), ...words].join(' ');
}

const show = (log: RecordedLog, task = createTask()): string[] =>
  log.events.flatMap((event) => task.apply(event)).map(shorten);

const started = () => new RecordedLog().fact('run.created', {}).fact('run.started', {}).begin();
const text = (log: RecordedLog, words: string, id = 'msg_1') => log.delta('message.delta', id, { text: words });

describe('A2A: from the log of a run to a task', () => {
  it('shows text in pieces, and what no delta has shown from the fact', () => {
    expect(show(text(text(started(), 'Hel'), 'lo').reply('Hello.').complete())).toEqual([
      'WORKING',
      'msg_1 = Hel',
      'msg_1 + lo',
      'msg_1 + ..',
      'COMPLETED',
    ]);
  });

  it('is the same task whatever pieces the text came in', () => {
    const task = createTask();
    show(started().reply('Hello.').complete(), task);
    const other = createTask();
    show(text(text(started(), 'Hel'), 'lo').reply('Hello.').complete(), other);
    expect((task.toJson() as { artifacts: object }).artifacts).toEqual(
      (other.toJson() as { artifacts: object }).artifacts,
    );
    expect(task.toJson()).toMatchObject({
      id: 'run_1',
      contextId: 'ours',
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'msg_1', parts: [{ text: 'Hello.' }] }],
      metadata: { rondo: { run_id: 'run_1', thread_id: 'thr_1' } },
    });
  });

  it('shows calls and their results as data, and the words of complete as an artifact', () => {
    const log = started().plan('call_1', 'get_weather', { city: 'Oslo' }).result('call_1', 'get_weather', 'Rain.');
    expect(show(log.plan('call_2', 'complete', { text: 'It rains.' }).complete('complete'))).toEqual([
      'WORKING',
      'WORKING {"data":{"tool_call":{"id":"call_1","name":"get_weather","arguments":{"city":"Oslo"}}}}',
      'WORKING {"data":{"tool_result":{"tool_call_id":"call_1","name":"get_weather","success":true,"output":"Rain."}}}',
      'answer_call_2 = It rains..',
      'COMPLETED',
    ]);
  });

  it('shows a call as failed whose outcome is unknown, once its model was told so', () => {
    const unknown = { tool_call_id: 'call_1', name: 'get_weather', reason: 'The executor was lost.' };
    const log = started().plan('call_1', 'get_weather').fact('tool.unknown', unknown);
    expect(show(log)).toHaveLength(2);
    const error = '"success":false,"output":"","error":"The executor was lost."';
    expect(show(log.fact('tool.unknown', { ...unknown, message_id: 'msg_2' })).at(-1)).toBe(
      `WORKING {"data":{"tool_result":{"tool_call_id":"call_1","name":"get_weather",${error}}}}`,
    );
  });

  it('takes back what was withdrawn', () => {
    const log = text(started(), 'Half').fact('iteration.restarted', {
      message_id: 'msg_2',
      withdrawn_stream_ids: ['msg_1', 'call_1'],
    });
    const task = createTask();
    expect(show(text(log, 'Whole', 'msg_2').reply('Whole.', '', 'msg_2'), task)).toEqual([
      'WORKING',
      'msg_1 = Half',
      'msg_1 = .',
      'msg_2 = Whole',
      'msg_2 + ..',
    ]);
    expect(task.toJson()).toMatchObject({ artifacts: [{ artifactId: 'msg_2', parts: [{ text: 'Whole.' }] }] });
  });

  it.each([
    [{ reason: 'ask', question: { tool_call_id: 'call_1', text: 'Which?' } }, '{"text":"Which?"}'],
    [{ reason: 'budget' }, '/budget'],
    [{ reason: 'elicitation' }, '/input'],
    [{ reason: 'tool_unknown' }, '/resolve'],
    [{ reason: 'caller_tools' }, '/tool-results'],
    [{ reason: 'approval', approvals: [{ approval_id: 'apr_1', tool_call_id: 'call_1', name: 'shell' }] }, '"apr_1"'],
  ])('asks for what a run waits for: %j', (waiting, words) => {
    const task = createTask();
    expect(show(started().fact('run.waiting', waiting), task).at(-1)).toMatch(/^INPUT_REQUIRED /);
    expect(JSON.stringify(task.toJson())).toContain(words);
    expect([task.isOver, task.isEnded]).toEqual([true, false]);
    show(new RecordedLog().fact('run.resumed', { reason: 'input' }), task);
    expect(task.isOver).toBe(false);
  });

  it('goes on while child runs are awaited', () => {
    const task = createTask();
    expect(show(started().fact('run.waiting', { reason: 'child_runs' }), task)).toEqual(['WORKING']);
    expect(task.isOver).toBe(false);
  });

  it('says how a run ended', () => {
    expect(show(started().fact('run.stopped', { reason: null })).at(-1)).toBe('CANCELED');
    expect(show(started().fact('run.stopped', { reason: 'read by run_2' })).at(-1)).toContain('read by run_2');
    const error = { code: 'provider_error', message: 'It broke.' };
    expect(show(started().fact('run.failed', { error })).at(-1)).toBe('FAILED {"text":"It broke. (provider_error)"}');
  });

  it.each(['max_iterations', 'budget_exceeded', 'loop_detected'])('fails a task that %s has cut off', (reason) => {
    const task = createTask();
    const words = `The run ended before it was done: ${reason}.`;
    expect(show(started().reply('Half.').complete(reason), task).at(-1)).toBe(`FAILED {"text":"${words}"}`);
    expect(task.isEnded).toBe(true);
  });

  it('knows that facts are missing', () => {
    const task = createTask();
    task.apply({ type: 'stream.gap', seq: null } as never);
    expect([task.isIncomplete, task.isOver]).toEqual([true, true]);
  });
});
