import type { ModelChunk, ModelRequest } from '../models/model';
import type { Model } from '../ports';
import { type Turn, calls, finished, says } from './scripted-model';

/** Keeps its requests and replies to each with what `answer` returns. */
export class AnsweringModel implements Model {
  readonly requests: ModelRequest[] = [];

  constructor(private readonly answer: (request: ModelRequest, nth: number) => Turn) {}

  async *stream(request: ModelRequest): AsyncIterable<readonly ModelChunk[]> {
    this.requests.push(request);
    await Promise.resolve();
    yield this.answer(request, this.requests.length).map(withoutUsage);
  }
}

/** A provider that reports no usage, so that only our own count applies. */
const withoutUsage = (chunk: ModelChunk): ModelChunk =>
  chunk.type === 'end' && chunk.how === 'finished'
    ? { type: 'end', how: 'finished', finishReason: chunk.finishReason }
    : chunk;

const read = { name: 'read_file', arguments: { file_path: 'a.txt' } };

/** Reads this many files, one after the other, then completes. */
export const readsFiles = (files: number): AnsweringModel => new AnsweringModel((_, nth) => readsNext(nth, files));

export const readsNext = (nth: number, files: number): Turn => (nth > files ? says('Done.') : calls(read));

/** Summarizes by repeating every line that contains this word. */
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

/** The size of a request if four characters are a token and every part of a message has a fixed overhead. */
export function tokensOfRequest({ system, messages, tools }: ModelRequest): number {
  const parts = messages.flatMap((message): readonly object[] =>
    message.role === 'tool' ? message.results : message.content,
  );
  const characters = parts.map(
    (part) => ('text' in part ? String(part.text) : JSON.stringify(part)).length + overheadOfPart,
  );
  return Math.ceil((system.length + JSON.stringify(tools).length + characters.reduce((sum, one) => sum + one, 0)) / 4);
}

const overheadOfPart = 40;
