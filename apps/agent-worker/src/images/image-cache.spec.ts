import { type RunId, type Sha256, runId, sha256 } from '@rondo/contract';
import fc from 'fast-check';
import { ImageCache } from './image-cache';

const run = runId.parse('run_1');
const [a, b, c] = ['a', 'b', 'c'].map((letter) => sha256.parse(letter.repeat(64))) as [Sha256, Sha256, Sha256];

/** A cache of blobs of ten bytes each, and the requests for them. */
function createCache({ gone = [] as Sha256[], maxBytes = 20 } = {}) {
  const asked: [RunId, ...Sha256[]][] = [];
  const cache = new ImageCache((id, blobs) => {
    asked.push([id, ...blobs]);
    return Promise.resolve(
      new Map(blobs.filter((blob) => !gone.includes(blob)).map((blob) => [blob, blob.slice(0, 10)])),
    );
  }, maxBytes);
  return { cache, asked };
}

describe('ImageCache', () => {
  it('reads what is not there, and only that', async () => {
    const { cache, asked } = createCache();

    await cache.of(run).read([a]);
    const both = await cache.of(run).read([a, b]);

    expect([...both]).toEqual([
      [a, 'aaaaaaaaaa'],
      [b, 'bbbbbbbbbb'],
    ]);
    expect(asked).toEqual([
      [run, a],
      [run, b],
    ]);
  });

  it('forgets what was not shown for longest', async () => {
    const { cache, asked } = createCache();

    for (const blob of [a, b, a, c, a, b]) await cache.of(run).read([blob]);

    expect(asked.map(([, blob]) => blob)).toEqual([a, b, c, b]);
  });

  it('answers also with more than it holds', async () => {
    const { cache } = createCache({ maxBytes: 5 });
    expect((await cache.of(run).read([a, b])).size).toBe(2);
  });

  it('asks again for what was gone', async () => {
    const { cache, asked } = createCache({ gone: [a] });

    for (const _ of [1, 2]) expect(await cache.of(run).read([a])).toEqual(new Map());

    expect(asked).toHaveLength(2);
  });

  it('shows a run no image that another run cached, since it may be of another account', async () => {
    const { cache, asked } = createCache();
    const other = runId.parse('run_2');

    await cache.of(run).read([a]);
    await cache.of(other).read([a]);

    expect(asked).toEqual([
      [run, a],
      [other, a],
    ]);
  });

  it('says the same as the blobs, whatever was asked before', async () => {
    const questions = fc.array(fc.uniqueArray(fc.constantFrom(a, b, c)));
    await fc.assert(
      fc.asyncProperty(questions, fc.nat(40), async (all, maxBytes) => {
        const { cache } = createCache({ gone: [c], maxBytes });
        for (const blobs of all) {
          const expected = blobs.filter((blob) => blob !== c).map((blob) => [blob, blob.slice(0, 10)] as const);
          expect(await cache.of(run).read(blobs)).toEqual(new Map(expected));
        }
      }),
    );
  });
});
