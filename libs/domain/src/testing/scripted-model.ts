import type { ModelChunk, ModelEnd, ModelRequest } from '../models/model';
import type { Model } from '../ports';

/** The output of a scripted model in one turn. */
export type Turn = readonly ModelChunk[];

const usage = { input_tokens: 10, cached_tokens: 0, output_tokens: 5, cost_usd: 0.001, estimated: false };

export const finished = (finishReason: 'stop' | 'length' | 'tool_calls'): ModelEnd => ({
  type: 'end',
  how: 'finished',
  finishReason,
  usage,
});

export const says = (text: string): Turn => [
  ...Array.from(text, (unit): ModelChunk => ({ type: 'text', text: unit })),
  finished('stop'),
];

export const calls = (...wanted: readonly { name: string; arguments: unknown }[]): Turn => [
  ...wanted.flatMap(({ name, arguments: input }, index): ModelChunk[] => [
    { type: 'call_start', index, name },
    { type: 'call_arguments', index, text: typeof input === 'string' ? input : JSON.stringify(input) },
  ]),
  finished('tool_calls'),
];

/** The turn with an input of that many tokens. */
export const using = (tokens: number, turn: Turn): Turn =>
  turn.map((chunk) =>
    chunk.type === 'end' && chunk.usage ? { ...chunk, usage: { ...chunk.usage, input_tokens: tokens } } : chunk,
  );

/** The stream breaks off after some text. */
export const breaksAfter = (text: string): Turn => [
  { type: 'text', text },
  { type: 'end', how: 'broken', error: { code: 'connection_error', message: 'The stream broke off.' }, usage },
];

/**
 * Replies with the turn that the conversation has reached, so that a repeated request gets the same reply. Keeps its
 * requests. On abort it ends at once, as a provider does.
 */
export class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];

  constructor(private readonly turns: readonly Turn[]) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]> {
    this.requests.push(request);
    for (const chunk of this.turns[this.place(request)] ?? says('Nothing more to say.')) {
      await Promise.resolve();
      if (signal.aborted) {
        yield [{ type: 'end', how: 'aborted', usage: { ...usage, estimated: true } }];
        return;
      }
      yield [chunk];
    }
  }

  protected place({ messages }: ModelRequest): number {
    return messages.filter(({ role }) => role === 'assistant').length;
  }
}

/** Says the next piece each time that it is asked. */
export const inPieces = (...pieces: readonly Turn[]): ScriptedModel => new PiecewiseModel(pieces);

class PiecewiseModel extends ScriptedModel {
  protected override place(): number {
    return this.requests.length - 1;
  }
}
