import { type NewFact, type Run, type RunId, callId, messageId, newRun, runId, threadId } from '@rondo/contract';
import { type ClaimedRun, effectiveSettings } from '@rondo/domain';
import type { Span, SpanAttributes, Tracing } from '@rondo/platform';
import { RunTraces } from './run-traces';
import { agentSpanId, callSpanId, creationSpanId } from './agent-span';

const id = runId.parse('run_traced');
const thread = threadId.parse('thr_1');
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const begun = Date.parse('2026-01-01T00:00:00.000Z');
const at = (ms: number) => new Date(begun + ms).toISOString();

interface Recorded {
  readonly name: string;
  readonly spanId: string | undefined;
  readonly parent: string | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly attributes: SpanAttributes;
  readonly error: string | undefined;
}

/** Keeps the spans that ended. */
class KeptSpans implements Tracing {
  readonly isOn = true;
  readonly spans: Recorded[] = [];

  constructor(readonly showsContent = false) {}

  begin({ name, spanId, parent, startedAt, attributes = {} }: Parameters<Tracing['begin']>[0]): Span {
    return {
      place: { traceId, spanId: spanId ?? '' },
      end: ({ at: endedAt, attributes: more = {}, error } = {}) => {
        const span = { name, spanId, parent: parent?.spanId, startedAt, endedAt, error };
        this.spans.push({ ...span, attributes: { ...attributes, ...more } });
      },
    };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  named(start: string): Recorded[] {
    return this.spans.filter(({ name }) => name.startsWith(start));
  }
}

interface Situation {
  readonly showsContent?: boolean;
  readonly trace?: Run['trace_id'];
  readonly log?: readonly NewFact[];
}

function fixture({ showsContent = false, trace = traceId, log = [] }: Situation = {}) {
  const effective = effectiveSettings({}, { model: 'openai/gpt-5' });
  if ('problems' in effective) throw new Error('the settings are valid');
  const { settings } = effective;
  const run = newRun({
    ...{ id, thread_id: thread, last_seq: 1, settings, metadata: {} },
    created_at: at(0),
    trace_id: trace,
  });
  const tracing = new KeptSpans(showsContent);
  const read: RunId[] = [];
  const over: Run = { ...run, status: 'completed', finish_reason: 'stop', iteration: 2, finished_at: at(9_000) };
  const traces = new RunTraces({
    tracing,
    readSentCalls: () => Promise.resolve(claim.log),
    readRun: (wanted) => {
      read.push(wanted);
      return Promise.resolve(over);
    },
    failed: (error) => {
      throw error;
    },
  });
  let seq = 0;
  const recorded = (fact: NewFact, ms: number) =>
    ({
      ...fact,
      ...{ id: `evt_${seq}`, v: 1, seq: (seq += 1), run_id: id, thread_id: thread, epoch: 1, at: at(ms) },
    }) as never; // a fact as the store numbers it
  const claim = {
    ...{ runId: id, threadId: thread, epoch: 1, run, queuedSince: at(10) },
    log: log.map((fact, index) => recorded(fact, index * 100)),
  } as unknown as ClaimedRun; // the other fields of a claim are not read
  const publish = (fact: NewFact, ms: number) => traces.note([recorded(fact, ms)]);
  return { traces, tracing, claim, publish, read };
}

const call = callId.parse('call_1');
const started = (attempt = 1): NewFact => ({
  ...{ type: 'tool.started', iteration: 1 },
  data: { tool_call_id: call, name: 'execute_command', attempt, store: null },
});
const answered = (type: 'tool.completed' | 'tool.failed'): NewFact => ({
  ...{ type, iteration: 1 },
  data: {
    ...{ tool_call_id: call, name: 'execute_command', duration_ms: 5, message_id: messageId.parse('msg_2') },
    result: { success: type === 'tool.completed', output: 'secret output' },
  },
});
const usage = (finishReason: string): NewFact => ({
  ...{ type: 'usage.recorded', iteration: 1 },
  data: {
    ...{ model_call_id: 'mdl_1' as never, model: 'anthropic/claude/opus', cost_usd: 0.5, estimated: false },
    ...{ input_tokens: 10, cached_tokens: 4, output_tokens: 3, finish_reason: finishReason },
    ...{ duration_ms: 700, first_token_ms: 250 },
  },
});
const said = (type: 'user' | 'assistant', text: string): NewFact => ({
  ...{ type: 'message.created', iteration: 1 },
  data: {
    message: {
      ...{ id: messageId.parse('msg_1'), thread_id: thread, run_id: id, iteration: 1, type, is_llm_message: true },
      ...{ content: [{ type: 'text', text }], metadata: {} },
    },
  },
});
const completed: NewFact = {
  ...{ type: 'run.completed', iteration: 2 },
  data: { finish_reason: 'stop', usage: { input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_usd: 0 } },
};

describe('RunTraces', () => {
  it('writes a span for each model call, from the fact of its usage', () => {
    const { traces, tracing, claim, publish } = fixture();
    traces.activated(claim, 'runs');

    publish(usage('stop'), 2_000);

    expect(tracing.named('chat')).toMatchObject([
      {
        ...{ name: 'chat claude/opus', parent: agentSpanId(id), error: undefined },
        ...{ startedAt: begun + 1_300, endedAt: begun + 2_000 },
        attributes: {
          'gen_ai.provider.name': 'anthropic',
          'gen_ai.request.model': 'claude/opus',
          'gen_ai.usage.input_tokens': 10,
          'gen_ai.usage.cache_read.input_tokens': 4,
          'gen_ai.usage.output_tokens': 3,
          'gen_ai.response.finish_reasons': ['stop'],
          'gen_ai.response.time_to_first_chunk': 0.25,
        },
      },
    ]);
  });

  it('says that a model call failed', () => {
    const { traces, tracing, claim, publish } = fixture();
    traces.activated(claim, 'runs');

    publish(usage('broken'), 2_000);

    expect(tracing.named('chat')).toMatchObject([{ error: 'broken' }]);
  });

  it('writes a span for each attempt of a call, named after the call and the attempt', () => {
    const { traces, tracing, claim, publish } = fixture();
    traces.activated(claim, 'runs');

    publish(started(), 100);
    publish(
      { type: 'tool.unknown', iteration: 1, data: { tool_call_id: call, name: 'execute_command', reason: '' } },
      200,
    );
    publish(started(2), 300);
    publish(answered('tool.completed'), 400);

    expect(tracing.named('execute_tool')).toMatchObject([
      {
        ...{ spanId: callSpanId(call, 1), error: 'outcome_unknown' },
        ...{ startedAt: begun + 100, endedAt: begun + 200 },
      },
      { ...{ spanId: callSpanId(call, 2), error: undefined }, ...{ startedAt: begun + 300, endedAt: begun + 400 } },
    ]);
  });

  it('writes the span of a call that another process began and left', () => {
    const { traces, tracing, claim, publish } = fixture({ log: [said('user', 'Go.'), started()] });
    traces.activated(claim, 'runs');

    publish(answered('tool.failed'), 5_000);

    expect(tracing.named('execute_tool')).toMatchObject([
      { spanId: callSpanId(call, 1), startedAt: begun + 100, endedAt: begun + 5_000, error: 'tool_failed' },
    ]);
  });

  it('writes the span of a call that was answered while no process held its run', async () => {
    const { traces, tracing, claim, publish } = fixture({ log: [said('user', 'Go.'), started()] });
    traces.activated(claim, 'runs')('parked');

    publish(answered('tool.completed'), 5_000);
    await traces.waitForSpans();

    expect(tracing.named('execute_tool')).toMatchObject([
      { spanId: callSpanId(call, 1), startedAt: begun + 100, endedAt: begun + 5_000, error: undefined },
    ]);
  });

  it('writes nothing for a call that never ran', () => {
    const { traces, tracing, claim, publish } = fixture();
    traces.activated(claim, 'runs');

    publish(answered('tool.failed'), 5_000);

    expect(tracing.named('execute_tool')).toEqual([]);
  });

  it('writes the span of the run at its end, as the row has it, also of a run that this process never held', async () => {
    const { traces, tracing, publish } = fixture();

    publish(completed, 9_000);
    await traces.waitForSpans();

    expect(tracing.spans).toMatchObject([
      {
        ...{ spanId: agentSpanId(id), parent: creationSpanId(id), startedAt: begun, endedAt: begun + 9_000 },
        attributes: {
          'rondo.run.status': 'completed',
          'rondo.run.iterations': 2,
          'gen_ai.operation.name': 'invoke_agent',
        },
      },
    ]);
  });

  it('writes the wait in the queue and the activation, with how it ended', () => {
    const { traces, tracing, claim } = fixture();

    traces.activated(claim, 'runs')('handed over');

    expect(tracing.spans).toMatchObject([
      { name: 'receive runs', parent: agentSpanId(id), startedAt: begun + 10 },
      { name: 'process runs', parent: agentSpanId(id), attributes: { 'rondo.activation.outcome': 'handed over' } },
    ]);
  });

  it('writes nothing of a run that is not traced, and does not even read its row', async () => {
    const { traces, tracing, claim, publish, read } = fixture({ trace: null });
    const ended = traces.activated(claim, 'runs');

    for (const fact of [usage('stop'), started(), answered('tool.completed'), completed]) publish(fact, 100);
    ended('ended');
    await traces.waitForSpans();

    expect(tracing.spans).toEqual([]);
    expect(read).toEqual([]);
  });

  it.each([false, true])('shows what was written only where that is asked for: %s', (showsContent) => {
    const planned: NewFact = {
      ...{ type: 'tool.planned', iteration: 1 },
      data: { tool_call: { id: call, arguments: { command: 'secret command' } } as never }, // no other field is read
    };
    const { traces, tracing, claim, publish } = fixture({ showsContent, log: [said('user', 'secret question')] });
    traces.activated(claim, 'runs');

    publish(said('assistant', 'secret answer'), 100);
    publish(usage('stop'), 100);
    for (const fact of [planned, started(), answered('tool.completed')]) publish(fact, 200);
    publish(usage('stop'), 300);

    const text = JSON.stringify(tracing.spans);
    const words = ['secret question', 'secret answer', 'secret command', 'secret output'];
    expect(words.filter((word) => text.includes(word))).toEqual(showsContent ? words : []);
    const again = JSON.stringify(tracing.named('chat').slice(1));
    expect(words.filter((word) => again.includes(word))).toEqual([]);
  });
});
