import type { RunId, RunSettings } from '@rondo/contract';
import {
  type Model,
  type ModelChunk,
  type ModelEnd,
  type ModelRequest,
  dialectNamed,
  tools as catalog,
  toToolSet,
} from '@rondo/domain';
import { replied, said } from '@rondo/domain/testing';
import type { SeededRandom } from './seeded-random';
import type { Life, Timeline } from './timeline';

/** The course of a reply. Each is random, also for an identical request, because providers promise no repetition. */
type Manner =
  | 'says'
  | 'calls'
  | 'calls badly'
  | 'asks'
  | 'completes'
  | 'is cut off'
  | 'breaks off'
  | 'fails'
  | 'is silent'
  | 'needs a retry';

const often = <Item>(times: number, item: Item): [Item, ...Item[]] => [item, ...Array<Item>(times - 1).fill(item)];

const manners: readonly [Manner, ...Manner[]] = [
  ...often<Manner>(14, 'calls'),
  ...often<Manner>(3, 'says'),
  ...(['calls badly', 'calls badly', 'asks', 'asks', 'completes', 'is cut off', 'is cut off'] as const),
  ...(['breaks off', 'breaks off', 'fails', 'is silent', 'needs a retry', 'needs a retry'] as const),
];

interface Wish {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

const wishes: readonly [Wish, ...Wish[]] = [
  { name: 'read_file', arguments: { file_path: 'a.txt' } },
  { name: 'list_files', arguments: { path: '.' } },
  { name: 'create_file', arguments: { file_path: 'a.txt', file_contents: 'a < b' } },
  { name: 'create_file', arguments: { file_path: 'b.txt', file_contents: 'b' } },
  { name: 'execute_command', arguments: { command: 'make', blocking: true } },
  { name: 'execute_command', arguments: { command: 'make test', blocking: true } },
  { name: 'full_file_rewrite', arguments: { file_path: 'a.txt', file_contents: 'c' } },
  {
    name: 'http_request',
    arguments: { method: 'POST', url: 'https://pay.example/', body: '1', idempotency: 'key_honoured' },
  },
  { name: 'get_weather', arguments: { city: 'Bergen' } },
  { name: 'order_taxi', arguments: { to: 'Bergen' } },
  { name: 'fly', arguments: {} },
];

/** After this many model calls, the model ends the run. */
const patience = 7;
const usage = { input_tokens: 10, cached_tokens: 0, output_tokens: 5, cost_usd: 0.001, estimated: false };

export interface RandomModelParts {
  readonly timeline: Timeline;
  readonly life: Life;
  /** The random numbers of one model call. */
  readonly random: SeededRandom;
  readonly runId: RunId;
  readonly settings: RunSettings;
  /** Records a model call, and returns how often the model was called before. */
  readonly called: (request: ModelRequest) => number;
}

export class RandomModel implements Model {
  constructor(private readonly parts: RandomModelParts) {}

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelChunk[]> {
    const { timeline, life, random, called } = this.parts;
    const nth = called(request);
    const ownRandom = random.fork(nth);

    for (const chunk of new Improvisation(ownRandom, this.parts, nth).chunks()) {
      await timeline.sleep(life, ownRandom.delay(150));
      if (signal.aborted) {
        yield [{ type: 'end', how: 'aborted', usage: { ...usage, estimated: true } }];
        return;
      }
      yield [chunk];
    }
  }
}

/** One reply, generated completely before it is streamed. */
class Improvisation {
  constructor(
    private readonly random: SeededRandom,
    private readonly about: RandomModelParts,
    private readonly nth: number,
  ) {}

  chunks(): ModelChunk[] {
    const manner = this.nth >= patience ? 'says' : this.random.pick(manners);
    const thoughts = this.random.chance(0.2) ? this.thoughts() : [];
    return [...thoughts, ...this.inManner(manner)];
  }

  private inManner(manner: Manner): ModelChunk[] {
    switch (manner) {
      case 'says':
        return [...this.writeReply(this.words()), toFinish('stop')];
      case 'calls':
        return [...this.calls(this.someWishes()), toFinish('tool_calls')];
      case 'calls badly':
        return [...this.calls(this.someWishes(), { badly: true }), toFinish('tool_calls')];
      case 'asks':
        return [...this.calls([...this.fewWishes(), wish('ask', 'Which one?')]), toFinish('tool_calls')];
      case 'completes':
        return [...this.calls([...this.fewWishes(), wish('complete', 'Done.')]), toFinish('tool_calls')];
      case 'is cut off':
        return [...this.toSome(this.calls(this.fewWishes())), toFinish('length')];
      case 'breaks off':
        return [...this.toSome(this.calls(this.someWishes())), toFailure('broken', 'connection_error')];
      case 'fails':
        return [...this.toSome(this.calls(this.fewWishes())), toFailure('failed', 'model_refused')];
      case 'is silent':
        return [toFinish('stop')];
      case 'needs a retry':
        return [retried, ...this.inManner('calls')];
    }
  }

  private thoughts(): ModelChunk[] {
    return [
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: `think ${this.nth}.` },
      { type: 'reasoning_end', opaque: { maker: 'random/model', data: 's', bound: true } },
    ];
  }

  /** Words that contain their run's name, so that they are recognized in other conversations (I10). */
  private words(): string {
    return `Said by ${this.about.runId}, call ${this.nth}: a < b. `;
  }

  private calls(wanted: readonly Wish[], { badly = false } = {}): ModelChunk[] {
    const words = this.random.chance(0.6) ? this.words() : '';
    if (this.about.settings.processor.dialect !== 'native') return this.writeReply(words, wanted, badly);
    const spoken = words === '' ? [] : inPieces(words, this.random);
    return [...spoken, ...wanted.flatMap((one, index) => nativeCall(one, index, badly && index === 0))];
  }

  /** In the form of the run's dialect. */
  private writeReply(words: string, wanted: readonly Wish[] = [], badly = false): ModelChunk[] {
    const { settings } = this.about;
    const { processor } = settings;
    if (processor.dialect === 'native') return inPieces(words, this.random);
    const messages = dialectNamed(processor.dialect).encode(
      [said('user', 'Go.'), replied(0, ...(words === '' ? [] : [words]), ...wanted)],
      toToolSet(settings, catalog).offered,
      { ...processor, xml_adding_strategy: 'user_message' },
    );
    const reply = messages.find(({ role }) => role === 'assistant');
    const text = reply?.role === 'assistant' ? reply.content.map((block) => ('text' in block ? block.text : '')) : [];
    const whole = text.join('');
    return inPieces(badly ? whole.slice(0, -this.random.between(1, 12)) : whole, this.random);
  }

  private someWishes(): Wish[] {
    return Array.from({ length: this.random.between(1, 3) }, () => this.random.pick(wishes));
  }

  private fewWishes(): Wish[] {
    return this.random.chance(0.5) ? [this.random.pick(wishes)] : [];
  }

  private toSome(chunks: readonly ModelChunk[]): ModelChunk[] {
    return chunks.slice(0, this.random.between(0, chunks.length));
  }
}

const wish = (name: string, text: string): Wish => ({ name, arguments: { text } });

function nativeCall({ name, arguments: input }: Wish, index: number, badly: boolean): ModelChunk[] {
  const text = JSON.stringify(input);
  const half = Math.ceil(text.length / 2);
  return [
    { type: 'call_start', index, name },
    { type: 'call_arguments', index, text: text.slice(0, half) },
    ...(badly ? [] : [{ type: 'call_arguments' as const, index, text: text.slice(half) }]),
  ];
}

function inPieces(text: string, random: SeededRandom): ModelChunk[] {
  const pieces: ModelChunk[] = [];
  for (let at = 0; at < text.length;) {
    const length = random.between(4, 60);
    pieces.push({ type: 'text', text: text.slice(at, at + length) });
    at += length;
  }
  return pieces;
}

const toFinish = (finishReason: 'stop' | 'length' | 'tool_calls'): ModelEnd => ({
  type: 'end',
  how: 'finished',
  finishReason,
  usage,
});

const toFailure = (how: 'broken' | 'failed', code: string): ModelEnd => ({
  type: 'end',
  how,
  error: { code, message: 'It went wrong.' },
  usage,
});

const retried: ModelChunk = {
  type: 'retried',
  attempt: 1,
  delayMs: 100,
  error: { code: 'rate_limited', message: 'Later.' },
};
