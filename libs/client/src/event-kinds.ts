import type { Fact, StreamEvent } from './generated/api.ts';

export const deltaTypes = ['message.delta', 'reasoning.delta', 'tool.call_delta', 'tool.output'] as const;

export type Delta = Extract<StreamEvent, { type: (typeof deltaTypes)[number] }>;

/** A fact that this client knows. A gateway may be newer, and send types that it does not know. */
export const isFact = (event: StreamEvent): event is Fact => event.seq !== null;

export const isDelta = (event: StreamEvent): event is Delta => event.seq === null && 'stream_id' in event;

const ends: readonly string[] = ['run.completed', 'run.failed', 'run.stopped'];

/** Whether the event ends its run: nothing follows it. */
export const isTerminal = ({ type }: StreamEvent): boolean => ends.includes(type);

export const toText = (delta: Delta): string =>
  delta.type === 'tool.call_delta' ? delta.data.arguments_text : delta.data.text;
