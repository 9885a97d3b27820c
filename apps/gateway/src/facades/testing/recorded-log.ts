import { type NewFact, type RecordedFact, noUsage } from '@rondo/contract';
import { plannedCall } from '@rondo/domain/testing';
import type { SubscriberEvent } from '../../live/stream-notices';

export const envelope = {
  id: 'evt_1',
  v: 1,
  run_id: 'run_1',
  thread_id: 'thr_1',
  iteration: 1,
  epoch: 1,
  at: '2026-11-27T10:00:00.000Z',
};

/** The log of a run, with deltas between its facts. */
export class RecordedLog {
  readonly events: SubscriberEvent[] = [];
  private seq = 0;
  private readonly lengths = new Map<string, number>();

  fact(type: NewFact['type'], data: object): this {
    this.seq += 1;
    this.events.push({ ...envelope, seq: this.seq, type, data } as unknown as RecordedFact);
    return this;
  }

  delta(type: string, streamId: string, data: Record<string, string>): this {
    const key = `${type} ${streamId}`;
    const offset = this.lengths.get(key) ?? 0;
    this.lengths.set(key, offset + (data['text'] ?? data['arguments_text'] ?? '').length);
    const event = { ...envelope, seq: null, after_seq: this.seq, stream_id: streamId, offset, type, data };
    this.events.push(event as unknown as SubscriberEvent);
    return this;
  }

  begin(messageId = 'msg_1'): this {
    return this.fact('iteration.started', { iteration: 1, message_id: messageId });
  }

  reply(text: string, reasoning = '', messageId = 'msg_1'): this {
    const content = [...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning }]), { type: 'text', text }];
    return this.fact('message.created', { message: { id: messageId, type: 'assistant', content, metadata: {} } });
  }

  plan(id: string, name: string, given: Record<string, unknown> = {}): this {
    return this.fact('tool.planned', { tool_call: plannedCall({ id: id as never, name, arguments: given }) });
  }

  result(id: string, name: string, output: string): this {
    return this.fact('tool.completed', { tool_call_id: id, name, result: { success: true, output } });
  }

  complete(finish_reason = 'stop'): this {
    return this.fact('iteration.completed', { iteration: 1, finish_reason }).fact('run.completed', {
      finish_reason,
      usage: noUsage,
    });
  }
}
