import { type Delta, toText } from './event-kinds.ts';
import type { MessageRow, ToolCallRow } from './run-view.ts';

interface OpenText {
  readonly streamId: string;
  readonly iteration: number;
  message: string;
  reasoning: string;
  call: string;
  callName: string;
}

/** Texts that the model is writing, and that no fact has superseded. */
export class OpenTexts {
  private readonly texts = new Map<string, OpenText>();
  /** The seq of the fact that superseded a stream: what was sent before it is out of date. */
  private readonly closed = new Map<string, number>();

  /** Whether the delta was sent before a fact superseded its stream. */
  isOutOfDate({ stream_id: streamId, after_seq: afterSeq }: Delta): boolean {
    return afterSeq < (this.closed.get(streamId) ?? 0);
  }

  /** False if the delta adds nothing. One that does not continue the text is left out: its text comes with the fact. */
  append(delta: Delta): boolean {
    const { stream_id: streamId, iteration } = delta;
    const empty = { streamId, iteration, message: '', reasoning: '', call: '', callName: '' };
    const text = this.texts.get(streamId) ?? empty;
    const kind = kinds[delta.type];
    if (!kind) return false;
    const longer = extendText(text[kind], delta);
    if (longer === undefined) return false;
    text[kind] = longer;
    if (delta.type === 'tool.call_delta') text.callName = delta.data.name ?? text.callName;
    this.texts.set(streamId, text);
    return true;
  }

  /** A fact with this seq has the stream's text, or withdraws it. */
  close(streamId: string, seq: number): void {
    this.texts.delete(streamId);
    this.closed.set(streamId, seq);
  }

  /** The run is over. */
  clear(): void {
    this.texts.clear();
  }

  rows(): (MessageRow | ToolCallRow)[] {
    return [...this.texts.values()].flatMap((text) => [...openMessage(text), ...openCall(text)]);
  }
}

const kinds: Partial<Record<Delta['type'], 'message' | 'reasoning' | 'call'>> = {
  'message.delta': 'message',
  'reasoning.delta': 'reasoning',
  'tool.call_delta': 'call',
};

/** The text with what the delta adds; undefined if it adds nothing, or something is missing in between. */
export function extendText(text: string, delta: Delta): string | undefined {
  const added = toText(delta);
  const isNext = delta.offset <= text.length && delta.offset + added.length > text.length;
  return isNext ? text + added.slice(text.length - delta.offset) : undefined;
}

function openMessage({ streamId, iteration, message, reasoning }: OpenText): MessageRow[] {
  if (message === '' && reasoning === '') return [];
  const open = { isOpen: true, message: null } as const;
  return [{ kind: 'message', id: streamId, iteration, role: 'assistant', text: message, reasoning, ...open }];
}

function openCall({ streamId, iteration, call, callName }: OpenText): ToolCallRow[] {
  if (call === '') return [];
  const draft = { status: 'drafting', arguments: null, attempt: 0, output: '', result: null } as const;
  const untried = {
    programCallId: null,
    durationMs: null,
    reason: null,
    replacedArguments: null,
    approval: null,
    startedAt: null,
  };
  return [{ kind: 'tool_call', id: streamId, iteration, name: callName, argumentsText: call, ...draft, ...untried }];
}
