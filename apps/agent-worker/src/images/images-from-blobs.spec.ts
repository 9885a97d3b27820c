import { type Sha256, callId, sha256 } from '@rondo/contract';
import type { Model, ModelRequest, ShownImage } from '@rondo/domain';
import { ImagesFromBlobs } from './images-from-blobs';

const [kept, gone] = ['a', 'b'].map((letter) => sha256.parse(letter.repeat(64))) as [Sha256, Sha256];
const blob = (hash: Sha256): ShownImage => ({
  type: 'blob',
  sha256: hash,
  media_type: 'image/png',
  width: 2,
  height: 3,
});
const url: ShownImage = { type: 'url', url: 'https://example.com/bird.png' };
const bytes: ShownImage = { type: 'base64', media_type: 'image/png', data: 'aGk=' };

const showing = (...images: ShownImage[]): ModelRequest => ({
  model: 'demo/coder',
  system: '',
  tools: [],
  settings: {},
  messages: [
    {
      role: 'user',
      content: [{ type: 'text', text: 'Look:' }, ...images.map((source) => ({ type: 'image' as const, source }))],
    },
    { role: 'assistant', content: [{ type: 'tool_call', id: callId.parse('call_1'), name: 'see', arguments: {} }] },
    {
      role: 'tool',
      results: images.map((image) => ({ tool_call_id: callId.parse('call_1'), text: 'seen', is_error: false, image })),
    },
  ],
});

/** Asks a model that has these blobs; answers with what reached the model, and what was read. */
async function ask(request: ModelRequest, blobs = new Map([[kept, 'aGk=']])) {
  const reached: ModelRequest[] = [];
  const read: (readonly Sha256[])[] = [];
  const model: Model = {
    async *stream(asked) {
      reached.push(asked);
      yield [{ type: 'text', text: 'Seen.' }];
      yield [{ type: 'end', how: 'aborted' }];
    },
  };
  const source = {
    read: (hashes: readonly Sha256[]) => {
      read.push(hashes);
      return Promise.resolve(blobs);
    },
  };
  let text = '';
  for await (const chunks of new ImagesFromBlobs(model, source).stream(request, new AbortController().signal)) {
    for (const chunk of chunks) if (chunk.type === 'text') text += chunk.text;
  }
  return { reached: reached[0], read, text };
}

describe('ImagesFromBlobs', () => {
  it('shows the model the images to which messages and results refer, and reads each once', async () => {
    const { reached, read, text } = await ask(showing(blob(kept), url));

    expect(reached).toEqual(showing(bytes, url));
    expect(read).toEqual([[kept]]);
    expect(text).toBe('Seen.');
  });

  it('leaves a reference where the blob is gone, for the provider’s words', async () => {
    expect((await ask(showing(blob(gone), blob(kept)))).reached).toEqual(showing(blob(gone), bytes));
  });

  it('passes on a request without blobs as it is, and reads nothing', async () => {
    const request = showing(url);
    const { reached, read } = await ask(request);

    expect(reached).toBe(request);
    expect(read).toEqual([]);
  });

  it('makes the same bytes of the same request, so that the prompt cache of the provider hits', async () => {
    const [first, second] = [await ask(showing(blob(kept), url)), await ask(showing(blob(kept), url))];
    expect(JSON.stringify(first.reached)).toBe(JSON.stringify(second.reached));
  });

  it('rejects when blobs cannot be read', async () => {
    const away = new ImagesFromBlobs({ stream: fail }, { read: () => Promise.reject(new Error('away')) });
    const reply = away.stream(showing(blob(kept)), never);

    await expect(reply[Symbol.asyncIterator]().next()).rejects.toThrow('away');
  });
});

const never = new AbortController().signal;

function fail(): never {
  throw new Error('asked a model');
}
