import { type NewFact, type RecordedFact, noUsage } from '@rondo/contract';
import { plannedCall } from '@rondo/domain/testing';
import type { SubscriberEvent } from '../../live/stream-notices';
import { AnthropicTranslator, type SessionEvent, blockCountsKey, eventIds } from './anthropic.translate';

const envelope = {
  v: 1,
  run_id: 'run_1',
  thread_id: 'thr_1',
  iteration: 1,
  epoch: 1,
  at: '2026-11-27T10:00:00.000Z',
};

/** A log, with deltas between its facts. */
class Log {
  readonly events: SubscriberEvent[] = [];
  private seq = 0;

  fact(type: NewFact['type'], data: object): this {
    this.seq += 1;
    this.events.push({ ...envelope, id: `evt_${this.seq}`, seq: this.seq, type, data } as unknown as RecordedFact);
    return this;
  }

  delta(type: string, text: string, offset: number): this {
    const about = { ...envelope, id: 'evt_d', seq: null, after_seq: this.seq, stream_id: 'msg_2', offset };
    this.events.push({ ...about, type, data: { text } } as unknown as SubscriberEvent);
    return this;
  }

  said(...texts: string[]): this {
    const content = texts.map((text) => ({ type: 'text', text }));
    return this.fact('message.created', { message: { id: 'msg_1', type: 'user', content, metadata: {} } });
  }

  reply(...content: object[]): this {
    return this.fact('message.created', { message: { id: 'msg_2', type: 'assistant', content, metadata: {} } });
  }

  plan(id: string, name: string, given: Record<string, unknown> = {}): this {
    return this.fact('tool.planned', { tool_call: plannedCall({ id: id as never, name, arguments: given }) });
  }

  started(id: string, name: string): this {
    return this.fact('tool.started', { tool_call_id: id, name, attempt: 1, store: null });
  }

  result(id: string, name: string, output: string): this {
    return this.fact('tool.completed', { tool_call_id: id, name, result: { success: true, output } });
  }
}

const run = {
  id: 'run_1' as never,
  settings: { caller_tools: [{ name: 'get_weather' }] } as never,
  metadata: {} as Record<string, string>,
};

function translate({ events }: Log, { previews = [] as string[], metadata = {} } = {}) {
  const translator = new AnthropicTranslator({ ...run, metadata }, { previews: new Set(previews) });
  const all = events.map((event) => translator.translate(event));
  return { events: all.flatMap((each) => each.events), previews: all.flatMap((each) => each.previews) };
}

const short = (events: readonly SessionEvent[]): string[] =>
  events.map(({ type, ...fields }) => {
    const reason = fields['stop_reason'] as { type: string } | undefined;
    return [type, fields['name'], fields['evaluated_permission'], reason?.type].filter(Boolean).join(' ');
  });

const approvals = ['call_1', 'call_2'].map((id) => ({
  approval_id: id.replace('call', 'apr'),
  tool_call_id: id,
  name: 'execute_command',
}));
const waitsForApprovals = () =>
  approvals
    .reduce(
      (log, each) => log.fact('approval.requested', each),
      new Log().plan('call_1', 'execute_command').plan('call_2', 'execute_command'),
    )
    .fact('run.waiting', { reason: 'approval', approvals });
const decide = (log: Log, index: number, outcome: string) =>
  log.fact('approval.decided', { ...approvals[index], outcome, reason: outcome === 'deny' ? 'No.' : null });

describe('events of Claude Managed Agents', () => {
  it('are in the order of a turn', () => {
    const log = new Log()
      .fact('run.created', {})
      .said('Hello?')
      .fact('run.started', {})
      .fact('iteration.started', { iteration: 1, message_id: 'msg_2' })
      .reply({ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Hello.' })
      .fact('usage.recorded', { input_tokens: 10, cached_tokens: 4, output_tokens: 2, cache_write_tokens: 1 })
      .fact('run.completed', { finish_reason: 'stop', usage: noUsage });
    const { events } = translate(log);
    expect(short(events)).toEqual([
      'user.message', 'session.status_running', 'span.model_request_start', 'agent.thinking', 'agent.message',
      'span.model_request_end', 'session.status_idle end_turn',
    ]); // prettier-ignore
    expect(events[5]).toMatchObject({
      model_request_start_id: events[2]?.id,
      is_error: false,
      model_usage: {
        ...{ input_tokens: 5, output_tokens: 2 },
        ...{ cache_read_input_tokens: 4, cache_creation_input_tokens: 1 },
      },
    });
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(translate(log).events).toEqual(events);
  });

  it('show each message of an input that was sent as several', () => {
    const { events } = translate(new Log().said('One.', 'Two.', 'Three.'), { metadata: { [blockCountsKey]: '1,2' } });
    expect(events.map(({ content }) => (content as unknown[]).length)).toEqual([1, 2]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  });

  it('show a message that was read on the way under an id of its own', () => {
    const told = { id: 'msg_3', type: 'user', content: [{ type: 'text', text: 'In blue.' }] };
    const log = new Log()
      .said('One.')
      .fact('message.created', { message: { ...told, metadata: { queued_as: 'run_2' } } });
    expect(translate(log).events.map(({ id }) => id)).toEqual([eventIds.input('run_1'), eventIds.input('run_2')]);
  });

  it('show what a person has said, and nothing that Rondo tells the agent in the place of one', () => {
    const note = { id: 'msg_3', type: 'user', content: [{ type: 'text', text: 'A file did not arrive.' }] };
    const log = new Log()
      .said('One.', 'Two.')
      .fact('message.created', { message: { ...note, metadata: { file_problems: [] } } })
      .fact('message.created', { message: { ...note, metadata: { kind: 'fork_note' } } });
    const { events } = translate(log, { metadata: { [blockCountsKey]: '1,1' } });
    expect(events.map(({ id }) => id)).toEqual([eventIds.input('run_1', 0), eventIds.input('run_1', 1)]);
  });

  it('show a call when it is known whether it needs a confirmation', () => {
    const log = new Log()
      .plan('call_1', 'execute_command', { command: 'ls' })
      .plan('call_2', 'docs__search')
      .started('call_1', 'execute_command')
      .result('call_1', 'execute_command', 'a.txt')
      .started('call_2', 'docs__search')
      .result('call_2', 'docs__search', '');
    const { events } = translate(log);
    expect(short(events)).toEqual([
      'agent.tool_use bash allow', 'agent.tool_result', 'agent.mcp_tool_use search allow', 'agent.mcp_tool_result',
    ]); // prettier-ignore
    expect(events[1]).toMatchObject({
      tool_use_id: 'call_1',
      content: [{ type: 'text', text: 'a.txt' }],
      is_error: false,
    });
    expect(events[2]).toMatchObject({ mcp_server_name: 'docs' });
  });

  it('say again what is awaited after a part of the answers', () => {
    const some = decide(waitsForApprovals(), 0, 'approve').fact('run.waiting', {
      reason: 'approval',
      approvals: approvals.slice(1),
    });
    const { events } = translate(decide(some, 1, 'deny').fact('run.resumed', { reason: 'approval' }));
    expect(short(events)).toEqual([
      'agent.tool_use bash ask', 'agent.tool_use bash ask', 'session.status_idle requires_action',
      'user.tool_confirmation', 'session.status_idle requires_action', 'user.tool_confirmation', 'session.status_running',
    ]); // prettier-ignore
    expect(events[4]).toMatchObject({ stop_reason: { event_ids: ['call_2'] } });
    expect(events[5]).toMatchObject({ result: 'deny', deny_message: 'No.' });
  });

  it('ask for nothing between the answers of one request', () => {
    const decided = decide(decide(waitsForApprovals(), 0, 'approve'), 1, 'approve').fact('run.resumed', {
      reason: 'approval',
    });
    expect(short(translate(decided).events).slice(3)).toEqual([
      'user.tool_confirmation', 'user.tool_confirmation', 'session.status_running',
    ]); // prettier-ignore
    const tool_calls = ['call_1', 'call_2'].map((id) => ({ tool_call_id: id, name: 'get_weather' }));
    const answered = new Log()
      .plan('call_1', 'get_weather')
      .plan('call_2', 'get_weather')
      .fact('run.waiting', { reason: 'caller_tools', tool_calls })
      .result('call_1', 'get_weather', 'Rain.')
      .result('call_2', 'get_weather', 'Sun.')
      .fact('run.resumed', { reason: 'caller_answered' });
    expect(short(translate(answered).events).slice(3)).toEqual([
      'user.custom_tool_result', 'user.custom_tool_result', 'session.status_running',
    ]); // prettier-ignore
  });

  it.each(['elicitation', 'tool_unknown'])('name the call that waits for a person elsewhere: %s', (reason) => {
    const question = { text: 'Which one?', attachments: [], tool_call_id: 'call_1' };
    const elicitations = reason === 'elicitation' ? [{ tool_call_id: 'call_1' }] : undefined;
    const log = new Log().plan('call_1', 'mcp__docs__find').fact('run.waiting', { reason, question, elicitations });
    const { events } = translate(log);
    expect(events.at(-2)).toMatchObject({ content: [{ text: expect.stringContaining('Which one? ') }] });
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'requires_action', event_ids: ['call_1'] } });
  });

  it('give a custom tool to the client, and show its result as the client’s', () => {
    const tool_calls = [{ tool_call_id: 'call_1', name: 'get_weather' }];
    const log = new Log()
      .plan('call_1', 'get_weather', { city: 'Bergen' })
      .started('call_1', 'get_weather')
      .fact('run.waiting', { reason: 'caller_tools', tool_calls })
      .result('call_1', 'get_weather', 'Rain.')
      .fact('run.resumed', { reason: 'input' });
    expect(short(translate(log).events)).toEqual([
      'agent.custom_tool_use get_weather', 'session.status_idle requires_action', 'user.custom_tool_result',
      'session.status_running',
    ]); // prettier-ignore
  });

  it('show questions and closing words as messages, and not as tools', () => {
    const question = { text: 'Which colour?', attachments: [], tool_call_id: 'call_1' };
    const log = new Log()
      .plan('call_1', 'ask', { text: 'Which colour?' })
      .fact('run.waiting', { reason: 'ask', question })
      .result('call_1', 'ask', '')
      .plan('call_2', 'complete', { text: 'Done.' })
      .result('call_2', 'complete', '');
    const { events } = translate(log);
    expect(short(events)).toEqual(['agent.message', 'session.status_idle end_turn', 'agent.message']);
    expect(events[0]).toMatchObject({ content: [{ text: 'Which colour?' }] });
  });

  it('have the usage of each request that a reply took', () => {
    const log = new Log()
      .fact('iteration.started', { iteration: 1, message_id: 'msg_2' })
      .fact('usage.recorded', { input_tokens: 5, cached_tokens: 0, output_tokens: 2, finish_reason: 'continued' })
      .fact('usage.recorded', { input_tokens: 7, cached_tokens: 0, output_tokens: 3, finish_reason: 'stop' });
    const { events } = translate(log);
    expect(short(events)).toEqual([
      'span.model_request_start', 'span.model_request_end', 'span.model_request_start', 'span.model_request_end',
    ]); // prettier-ignore
    expect(events[3]).toMatchObject({ model_request_start_id: events[2]?.id, model_usage: { input_tokens: 7 } });
    expect(new Set(events.map(({ id }) => id)).size).toBe(4);
  });

  it.each([
    ['run.stopped', {}, ['session.status_idle end_turn']],
    [
      'run.failed',
      { error: { code: 'service_unavailable', message: 'Too much.' } },
      ['session.error', 'session.status_idle retries_exhausted'],
    ],
  ] as const)('close the model request that is open at %s', (type, data, rest) => {
    const log = new Log().fact('iteration.started', { iteration: 1, message_id: 'msg_2' }).fact(type, data);
    expect(short(translate(log).events)).toEqual(['span.model_request_start', 'span.model_request_end', ...rest]);
  });

  it.each([
    ['budget_exceeded', ['session.status_idle budget_reached']],
    ['max_iterations', ['session.error', 'session.status_idle retries_exhausted']],
    ['loop_detected', ['session.error', 'session.status_idle retries_exhausted']],
  ])('say of a run that %s has cut off that it was not done', (finish_reason, shown) => {
    const { events } = translate(new Log().fact('run.completed', { finish_reason, usage: noUsage }));
    expect(short(events)).toEqual(shown);
    const type = finish_reason === 'max_iterations' ? 'tool_use_limit_reached_error' : 'unknown_error';
    const error = { type, message: expect.stringContaining(finish_reason), retry_status: { type: 'exhausted' } };
    if (events.length > 1) expect(events[0]).toMatchObject({ error });
  });

  it.each([
    ['rate_limit', 'model_rate_limited_error'],
    ['service_unavailable', 'model_overloaded_error'],
    ['budget_exceeded', 'billing_error'],
    ['authentication', 'model_request_failed_error'],
    ['model_no_reply', 'model_request_failed_error'],
    ['too_many_malformed_calls', 'unknown_error'],
  ])('call the failure %s a %s', (code, type) => {
    const { events } = translate(new Log().fact('run.failed', { error: { code, message: 'It broke.' } }));
    expect(events[0]).toMatchObject({ type: 'session.error', error: { type, message: 'It broke.' } });
  });

  it('show a retry, and a restarted request as two', () => {
    const log = new Log()
      .fact('iteration.started', { iteration: 1, message_id: 'msg_2' })
      .fact('model.retried', { attempt: 1, delay_ms: 1, error: { code: 'rate_limit', message: 'Slow down.' } })
      .fact('iteration.restarted', { iteration: 1, message_id: 'msg_3', withdrawn_stream_ids: [] });
    const { events } = translate(log);
    expect(short(events)).toEqual([
      'span.model_request_start', 'session.error', 'session.status_rescheduled', 'session.status_running',
      'span.model_request_end', 'span.model_request_start',
    ]); // prettier-ignore
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(events[1]).toMatchObject({
      error: { type: 'model_rate_limited_error', retry_status: { type: 'retrying' } },
    });
  });

  it('say that the session works again once after several retries, and nothing of a request that waits for its pace', () => {
    const error = { code: 'rate_limit', message: 'Slow down.' };
    const log = new Log()
      .fact('model.retried', { attempt: 1, delay_ms: 1, error, paced_by: 'openai' })
      .fact('model.retried', { attempt: 1, delay_ms: 1, error })
      .fact('model.retried', { attempt: 2, delay_ms: 1, error })
      .reply({ type: 'text', text: 'Hello.' })
      .fact('usage.recorded', { input_tokens: 5, cached_tokens: 0, output_tokens: 2, finish_reason: 'stop' });
    expect(short(translate(log).events)).toEqual([
      'session.error', 'session.status_rescheduled', 'session.error', 'session.status_rescheduled',
      'session.status_running', 'agent.message', 'span.model_request_start', 'span.model_request_end',
    ]); // prettier-ignore
  });

  it('preview a message as a prefix of it, once begun, and only where that is wanted', () => {
    const log = new Log()
      .delta('reasoning.delta', 'Hm.', 0)
      .delta('message.delta', 'Hel', 0)
      .delta('message.delta', 'Hello', 0)
      .delta('message.delta', 'lost', 9)
      .reply({ type: 'text', text: 'Hello.' });
    expect(translate(log).previews).toEqual([]);
    const { previews, events } = translate(log, { previews: ['agent.message', 'agent.thinking'] });
    expect(previews.map(({ type }) => type)).toEqual(['event_start', 'event_start', 'event_delta', 'event_delta']);
    const text = previews.flatMap((each) => (each.type === 'event_delta' ? [each.delta.content.text] : [])).join('');
    expect('Hello.'.startsWith(text)).toBe(true);
    expect(previews[1]).toMatchObject({ event: { id: events[0]?.id } });
  });
});
