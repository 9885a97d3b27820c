import type { ModelChunk, ModelEnd, ModelRequest } from '../models/model';
import type { Model } from '../ports';

/** How the provider behind a model behaves in a test. */
export type ProviderBehaviour =
  | { readonly replies: readonly string[] }
  | { readonly calls: { readonly name: string; readonly arguments: Record<string, unknown> } }
  /** Sends this text and more, for longer than the test waits. */
  | { readonly keepsSending: string }
  /** Sends this text, then closes the connection without a finish reason. */
  | { readonly breaksAfter: string }
  /** Refuses the request; trying again would not help. */
  | { readonly refuses: string };

export interface ModelFixture {
  readonly model: Model;
  /** The name by which a request asks for it. */
  readonly name: string;
}

/** What every Model guarantees. The scripted model and the models of real providers pass the same tests. */
export const describeModel = (
  implementation: string,
  open: (behaviour: ProviderBehaviour) => Promise<ModelFixture> | ModelFixture,
): void => {
  describe(`${implementation} as a Model`, () => {
    const ask = async (behaviour: ProviderBehaviour, signal = new AbortController().signal) => {
      const { model, name } = await open(behaviour);
      return model.stream(requestTo(name), signal);
    };

    it('streams the text of a reply in order and ends with its finish reason and usage', async () => {
      const { text, end } = await readModel(await ask({ replies: ['Hel', 'lo ', 'world'] }));

      expect(text).toBe('Hello world');
      expect(end).toMatchObject({ how: 'finished', finishReason: 'stop', usage: anyUsage() });
    });

    it('starts a tool call before its arguments and ends with tool_calls', async () => {
      const call = { name: 'read_file', arguments: { file_path: 'a.txt' } };
      const { chunks, end } = await readModel(await ask({ calls: call }));

      const [start, ...rest] = chunks.filter(({ type }) => type === 'call_start' || type === 'call_arguments');
      expect(start).toEqual({ type: 'call_start', index: 0, name: call.name });
      const written = rest.map((chunk) => (chunk.type === 'call_arguments' && chunk.index === 0 ? chunk.text : '#'));
      expect(JSON.parse(written.join(''))).toEqual(call.arguments);
      expect(end).toMatchObject({ how: 'finished', finishReason: 'tool_calls', usage: anyUsage() });
    });

    it('ends as aborted when the signal aborts in the middle of a reply, with nothing after it', async () => {
      const stop = new AbortController();
      const stream = await ask({ keepsSending: 'Half a reply' }, stop.signal);

      const { text, end } = await readModel(stream, (chunk) => {
        if (chunk.type === 'text') stop.abort();
      });

      expect('Half a reply'.startsWith(text)).toBe(true);
      expect(end).toMatchObject({ how: 'aborted', usage: anyUsage() });
    });

    it('ends as aborted at once when the signal was aborted before', async () => {
      const { chunks } = await readModel(await ask({ replies: ['Hello'] }, AbortSignal.abort()));

      expect(chunks).toMatchObject([{ type: 'end', how: 'aborted' }]);
    });

    it('ends as broken, with the text so far, when the stream breaks after output', async () => {
      const { text, end } = await readModel(await ask({ breaksAfter: 'Half a reply' }));

      expect(text).toBe('Half a reply');
      expect(end).toMatchObject({ how: 'broken', error: anyError(), usage: anyUsage() });
    });

    it('ends as failed, and does not reject, when the provider refuses', async () => {
      const { chunks, end } = await readModel(await ask({ refuses: 'Not this.' }));

      expect(chunks).toHaveLength(1);
      expect(end).toMatchObject({ how: 'failed', error: anyError() });
    });

    it('lets its consumer stop reading in the middle of a reply', async () => {
      const stream = (await ask({ keepsSending: 'Half a reply' }))[Symbol.asyncIterator]();

      expect((await stream.next()).value).toMatchObject([{ type: 'text' }]);
      expect(await stream.return?.()).toMatchObject({ done: true });
      expect(await stream.next()).toMatchObject({ done: true });
    });

    it('keeps concurrent replies apart (I10)', async () => {
      const { model, name } = await open({ replies: ['Hel', 'lo'] });
      const stream = () => readModel(model.stream(requestTo(name), new AbortController().signal));

      const replies = await Promise.all([stream(), stream(), stream()]);

      expect(replies.map(({ text }) => text)).toEqual(['Hello', 'Hello', 'Hello']);
    });
  });
};

const requestTo = (model: string): ModelRequest => ({
  model,
  system: 'You are terse.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }],
  tools: [],
  settings: {},
});

// Functions, because benchmarks load this folder without jest.
const anyUsage = (): unknown =>
  expect.objectContaining({
    input_tokens: expect.any(Number),
    output_tokens: expect.any(Number),
    estimated: expect.any(Boolean),
  });
const anyError = (): unknown => ({ code: expect.stringMatching(/^\w+$/), message: expect.stringMatching(/\S/) });

/** Reads a stream whole and checks what holds for every stream: no empty batch, and one `end`, as its last chunk. */
async function readModel(
  stream: AsyncIterable<readonly ModelChunk[]>,
  onChunk: (chunk: ModelChunk) => void = () => undefined,
): Promise<{ chunks: readonly ModelChunk[]; text: string; end: ModelEnd }> {
  const batches: (readonly ModelChunk[])[] = [];
  for await (const batch of stream) {
    batches.push(batch);
    batch.forEach(onChunk);
  }
  const chunks = batches.flat();
  const ends = chunks.filter((chunk) => chunk.type === 'end');
  const [end] = ends;

  expect(batches.every(({ length }) => length > 0)).toBe(true);
  expect(ends).toHaveLength(1);
  expect(chunks.at(-1)).toBe(end);
  if (!end) throw new Error('checked above');
  return { chunks, text: chunks.map((chunk) => (chunk.type === 'text' ? chunk.text : '')).join(''), end };
}
