import type { Model, ModelChunk, ModelRequest } from '../models/model';
import { type Turn, calls, finished, says } from './scripted-model';

/** Keeps what it was asked, and says what `answer` makes of it. */
export class AnsweringModel implements Model {
  readonly requests: ModelRequest[] = [];

  constructor(private readonly answer: (request: ModelRequest, nth: number) => Turn) {}

  async *stream(request: ModelRequest): AsyncIterable<readonly ModelChunk[]> {
    this.requests.push(request);
    await Promise.resolve();
    yield this.answer(request, this.requests.length).map(withoutBill);
  }
}

/** A provider that reports nothing: what is sent is then judged by our own count. */
const withoutBill = (chunk: ModelChunk): ModelChunk =>
  chunk.type === 'end' && chunk.how === 'finished'
    ? { type: 'end', how: 'finished', finishReason: chunk.finishReason }
    : chunk;

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };

/** Reads one file after the other, and is done after so many. */
export const readsFiles = (files: number): AnsweringModel => new AnsweringModel((_, nth) => readsNext(nth, files));

export const readsNext = (nth: number, files: number): Turn => (nth > files ? says('Done.') : calls(read));

/** Sums up by repeating every line with this word in it. */
export const remembers = (word: string): AnsweringModel =>
  new AnsweringModel((request) => {
    const lines = textOfRequest(request)
      .split('\n')
      .filter((line) => line.includes(word));
    return saysAtOnce(`Remembered: ${[...new Set(lines)].join(' / ')}`);
  });

export const saysAtOnce = (text: string): Turn => [{ type: 'text', text }, finished('stop')];

export const textOfRequest = ({ messages }: ModelRequest): string =>
  messages
    .flatMap((message): readonly object[] => (message.role === 'tool' ? message.results : message.content))
    .map((part) => ('text' in part ? String(part.text) : ''))
    .join('\n');

/** What a request weighs where every four characters are a token, and every part of a message costs some beside. */
export function tokensOfRequest({ system, messages, tools }: ModelRequest): number {
  const parts = messages.flatMap((message): readonly object[] =>
    message.role === 'tool' ? message.results : message.content,
  );
  const characters = parts.map(
    (part) => ('text' in part ? String(part.text) : JSON.stringify(part)).length + besidePart,
  );
  return Math.ceil((system.length + JSON.stringify(tools).length + characters.reduce((sum, one) => sum + one, 0)) / 4);
}

const besidePart = 40;
