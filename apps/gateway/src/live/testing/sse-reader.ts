import type { RunEvent } from '@rondo/contract';
import { adminKey } from '../../testing/running-gateway';

export interface Frame {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Reads server-sent events as they come; ends with the stream. */
export async function* readStream(
  url: string,
  { headers = {}, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): AsyncGenerator<Frame> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${adminKey}`, ...headers },
    signal: signal ?? null,
  });
  if (response.status !== 200 || !response.body) throw new Error(`the stream answered ${response.status}`);

  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const frame = findFrame(text.slice(0, end));
      text = text.slice(end + 2);
      if (frame) yield frame;
    }
  }
}

/** Undefined for comments and `retry`. */
function findFrame(block: string): Frame | undefined {
  const lines = block.split('\n'); // not at other line separators, which JSON may contain
  const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  const [event, data] = [field('event'), field('data')];
  return event !== undefined && data !== undefined ? { id: field('id'), event, data } : undefined;
}

export const createEvent = ({ data }: Frame): RunEvent => JSON.parse(data) as RunEvent;

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
