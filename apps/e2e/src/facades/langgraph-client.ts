import { randomUUID } from 'node:crypto';
import { scriptInput } from '@rondo/test-deployment';

/** A message of the user that tells `demo/scripted` what to do. */
export const human = (text: string, turns: readonly Record<string, unknown>[], id: string = randomUUID()) => ({
  messages: [{ type: 'human' as const, id, content: scriptInput(text, turns).input }],
});

/** A message as LangChain writes it in JSON. */
export interface Message {
  readonly id: string;
  readonly type: string;
  readonly content: string;
  readonly tool_calls?: readonly object[];
  readonly tool_call_id?: string;
}
export interface State {
  readonly messages: readonly Message[];
  readonly __interrupt__?: readonly { readonly id: string; readonly value: Readonly<Record<string, unknown>> }[];
}
/** An event of a stream. */
export interface Event {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

const toChunk = ({ data }: Event): Message => (data as readonly [Message])[0];

/** The texts of the pieces of replies, joined by their messages. */
export function join(events: readonly Event[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const event of events) {
    if (event.event !== 'messages' || toChunk(event).type !== 'AIMessageChunk') continue;
    const { id, content } = toChunk(event);
    texts[id] = (texts[id] ?? '') + content;
  }
  return texts;
}

/** Calls `act` once, when this much text has come. */
export async function readAll(stream: AsyncIterable<unknown>, act?: () => unknown, length = 100): Promise<Event[]> {
  const events: Event[] = [];
  let acting: unknown;
  for await (const event of stream as AsyncIterable<Event>) {
    events.push(event);
    if (act && Object.values(join(events)).join('').length >= length) acting ??= act();
  }
  await acting;
  return events;
}

/** The newest state of a stream. Throws where there was none. */
export function lastState(events: readonly Event[]): State {
  const last = events.findLast(({ event }) => event === 'values');
  if (!last) throw new Error(`there was no state: ${events.map(({ event }) => event).join()}`);
  return last.data as State;
}

export const textsIn = ({ messages }: State): string[] => messages.map(({ type, content }) => `${type}: ${content}`);

/** Resolves to the status of the refusal, and its text. */
export async function refusal(promise: Promise<unknown>): Promise<{ status: number; text: string }> {
  try {
    await promise;
  } catch (error) {
    const { status, message } = error as { status?: number; message: string };
    return { status: status ?? 0, text: message };
  }
  throw new Error('it was not refused');
}
