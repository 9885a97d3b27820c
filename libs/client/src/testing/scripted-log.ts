import fc from 'fast-check';
import { type Delta, isDelta, toText } from '../event-kinds.ts';
import type { Fact, Message, StreamEvent, ToolCall } from '../generated/api.ts';

/** What happens in one iteration: pieces of text, whether it begins again after them, and its tool calls. */
interface Step {
  readonly reasoning: readonly string[];
  readonly pieces: readonly string[];
  readonly restarts: boolean;
  readonly calls: readonly {
    readonly prints: readonly string[];
    readonly ending: 'completed' | 'failed' | 'retried';
  }[];
}

const piece = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });
const pieces = fc.array(piece, { maxLength: 4 });

const step: fc.Arbitrary<Step> = fc.record({
  reasoning: pieces,
  pieces,
  restarts: fc.boolean(),
  calls: fc.array(fc.record({ prints: pieces, ending: fc.constantFrom('completed', 'failed', 'retried') }), {
    maxLength: 2,
  }),
});

const ending = fc.constantFrom('run.completed', 'run.failed', 'run.stopped');

/** All events of a run, as one subscriber without an interruption gets them. */
export const runEvents: fc.Arbitrary<readonly StreamEvent[]> = fc
  .record({ steps: fc.array(step, { minLength: 1, maxLength: 3 }), ending })
  .map(({ steps, ending: end }) => new Script().play(steps, end));

const usage = { input_tokens: 3, cached_tokens: 1, output_tokens: 2, cost_usd: 0.5 };
const at = '2026-01-01T00:00:00.000Z';

class Script {
  private readonly events: StreamEvent[] = [];
  private readonly lengths = new Map<string, number>();
  private seq = 0;
  private ids = 0;
  private iteration = 0;

  play(steps: readonly Step[], end: string): StreamEvent[] {
    this.fact('run.created', { profile: 'suna', model: 'demo/coder' });
    this.fact('run.started', {});
    for (const each of steps) this.iterate(each);
    const receipt = { requested_at: at, model_aborted_at: null, tools_stopped: [], tokens_after_stop: 0 };
    this.fact(end, {
      finish_reason: 'stop',
      usage,
      reason: null,
      receipt: { ...receipt, sandbox_verified_at: null },
      error: { code: 'model_error', message: 'The model failed.' },
    });
    return this.events;
  }

  private iterate({ reasoning, pieces: texts, restarts, calls }: Step): void {
    this.iteration++;
    const id = this.newId('msg');
    this.fact('iteration.started', { iteration: this.iteration, message_id: id });
    if (restarts) {
      const withdrawn = [id, this.newId('call')];
      this.write(id, { reasoning, texts });
      this.delta('tool.call_delta', withdrawn[1] ?? '', { arguments_text: '{', name: 'shell' });
      this.fact('iteration.restarted', { iteration: this.iteration, message_id: id, withdrawn_stream_ids: withdrawn });
    }
    const kept = restarts ? this.newId('msg') : id;
    this.write(kept, { reasoning, texts });
    const ids = calls.map(() => this.newId('call'));
    for (const call of ids) this.delta('tool.call_delta', call, { arguments_text: '{"command":"ls"}', name: 'shell' });
    this.fact('message.created', { message: this.message(kept, { reasoning, texts }) });
    calls.forEach(({ prints, ending: end }, index) => this.call(ids[index] ?? '', { prints, end }));
    this.fact('usage.recorded', { model_call_id: 'mc_1', model: 'demo/coder', estimated: false, ...usage });
    this.fact('iteration.completed', {
      iteration: this.iteration,
      finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
    });
  }

  private call(id: string, { prints, end }: { prints: readonly string[]; end: Step['calls'][number]['ending'] }): void {
    const named = { tool_call_id: id, name: 'shell' };
    this.fact('tool.planned', { tool_call: this.toolCall(id) });
    const run = (attempt: number) => {
      this.lengths.delete(`tool.output ${id}`);
      this.fact('tool.started', { ...named, attempt, store: null });
      for (const text of prints) this.delta('tool.output', id, { text });
    };
    run(1);
    if (end === 'retried') {
      this.fact('tool.unknown', { ...named, reason: 'The executor died.' });
      run(2);
    }
    const result = { success: end !== 'failed', output: prints.join('') };
    const type = end === 'failed' ? 'tool.failed' : 'tool.completed';
    this.fact(type, { ...named, result, duration_ms: 5, message_id: this.newId('msg') });
  }

  private write(id: string, { reasoning, texts }: { reasoning: readonly string[]; texts: readonly string[] }): void {
    for (const text of reasoning) this.delta('reasoning.delta', id, { text });
    for (const text of texts) this.delta('message.delta', id, { text });
  }

  private message(
    id: string,
    { reasoning, texts }: { reasoning: readonly string[]; texts: readonly string[] },
  ): Message {
    const content: Message['content'] = [
      { type: 'reasoning', text: reasoning.join('') },
      { type: 'text', text: texts.join('') },
    ];
    const about = { thread_id: 'thr_1', run_id: 'run_1', iteration: this.iteration, seq: this.iteration };
    return { id, ...about, type: 'assistant', is_llm_message: true, content, metadata: {}, created_at: at };
  }

  private toolCall(id: string): ToolCall {
    const about = { run_id: 'run_1', iteration: this.iteration, index: 0, message_id: 'msg_1', name: 'shell' };
    const unstarted = { result: null, attempt: 0, started_at: null, finished_at: null };
    const kind = { dialect: 'native', effect_class: 'unsafe', status: 'planned' } as const;
    return { id, ...about, ...kind, ...unstarted, arguments: { command: 'ls' } };
  }

  private newId(prefix: string): string {
    return `${prefix}_${++this.ids}`;
  }

  private envelope(type: string) {
    const about = { run_id: 'run_1', thread_id: 'thr_1', iteration: this.iteration, epoch: 1, at };
    return { id: this.newId('evt'), v: 1, type, ...about };
  }

  private fact(type: string, data: object): void {
    this.events.push({ ...this.envelope(type), seq: ++this.seq, data } as Fact); // each caller gives the data of its type
  }

  private delta(type: Delta['type'], streamId: string, data: object): void {
    const key = `${type} ${streamId}`;
    const offset = this.lengths.get(key) ?? 0;
    const place = { seq: null, after_seq: this.seq, stream_id: streamId, offset };
    const delta = { ...this.envelope(type), ...place, data } as Delta; // as above
    this.lengths.set(key, offset + toText(delta).length);
    this.events.push(delta);
  }
}

/**
 * What a gateway sends to a client that has the facts up to `after` and connects when the first `position` events have
 * happened: the facts that it does not have, each open text from its beginning, and then what happens.
 */
export function eventsFrom(events: readonly StreamEvent[], { after, position }: { after: number; position: number }) {
  const past = events.slice(0, position);
  const missed = past.filter((event) => event.seq !== null && event.seq > after);
  return [...missed, ...openTexts(past), ...events.slice(position)];
}

function openTexts(past: readonly StreamEvent[]): Delta[] {
  const open = new Map<string, Delta>();
  for (const event of past) {
    if (isDelta(event)) {
      const key = `${event.type} ${event.stream_id}`;
      const before = open.get(key);
      const text = (before ? toText(before) : '') + toText(event);
      const data = event.type === 'tool.call_delta' ? { ...event.data, arguments_text: text } : { ...event.data, text };
      open.set(key, { ...(before ?? event), data } as Delta); // of the same type
    } else {
      for (const key of open.keys()) if (closes(event, key)) open.delete(key);
    }
  }
  return [...open.values()];
}

function closes(event: StreamEvent, key: string): boolean {
  const streamId = key.split(' ')[1] ?? '';
  if (event.type === 'message.created') return event.data.message.id === streamId;
  if (event.type === 'tool.planned') return event.data.tool_call.id === streamId;
  if (event.type === 'iteration.restarted') return event.data.withdrawn_stream_ids.includes(streamId);
  return 'tool_call_id' in event.data && event.data.tool_call_id === streamId && key.startsWith('tool.output');
}
