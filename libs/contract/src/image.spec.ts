import fc from 'fast-check';
import { inputContent, message } from '.';
import { pngSource } from './testing';

const image = (source: object) => [
  { type: 'text', text: 'Look:' },
  { type: 'image', source },
];
const kept = { type: 'blob', sha256: 'a'.repeat(64), media_type: 'image/png', width: 2, height: 3 };

/** The path and the message of the first problem. */
function listProblems(source: object): string[] {
  const issues = inputContent.safeParse(image(source)).error?.issues ?? [];
  const inner = issues.flatMap((issue) => (issue.code === 'invalid_union' ? issue.errors.flat() : [issue]));
  return inner.filter(({ path }) => path.length > 2).map(({ path, message: why }) => `${path.join('.')}: ${why}`);
}

describe('an image of a user input', () => {
  it('gets its size from its bytes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 65_535 }), fc.integer({ min: 1, max: 65_535 }), (width, height) => {
        const source = pngSource({ width, height });
        expect(inputContent.parse(image(source))[1]).toEqual({ type: 'image', source: { ...source, width, height } });
      }),
    );
  });

  it('may be a URL or a blob', () => {
    const url = { type: 'url', url: 'https://example.com/a.png' };
    for (const source of [url, kept]) expect(inputContent.parse(image(source))[1]).toEqual({ type: 'image', source });
  });

  it.each([
    [{ ...pngSource(), data: 'aGVsbG8=' }, '1.source.data: must be a PNG, JPEG, GIF or WebP image'],
    [{ ...pngSource(), media_type: 'image/jpeg' }, '1.source.media_type: the bytes are image/png'],
    [{ ...pngSource(), media_type: 'image/svg+xml' }, /^1\.source\.media_type: /],
    [{ ...pngSource(), data: 'ä' }, /^1\.source\.data: /],
    [{ ...kept, sha256: '../../etc' }, '1.source.sha256: must be 64 hexadecimal digits'],
    [{ ...kept, width: 0 }, /^1\.source\.width: /],
  ])('is refused as %j', (source, why) => {
    expect(listProblems(source)).toEqual([expect.stringMatching(why)]);
  });

  it('has 5 MiB at most', () => {
    const ofLength = (bytes: number) => {
      const header = Buffer.from(pngSource().data, 'base64');
      return { ...pngSource(), data: Buffer.concat([header, Buffer.alloc(bytes - header.length)]).toString('base64') };
    };
    const limit = 5 * 1024 * 1024;

    expect(listProblems(ofLength(limit))).toEqual([]);
    expect(listProblems(ofLength(limit + 1))).toEqual(['1.source.data: must be 5 MiB at most']);
  });
});

it('rejects a message that contains the bytes of an image', () => {
  const about = { id: 'msg_1', thread_id: 'thr_1', run_id: null, iteration: null, seq: 1, type: 'user' };
  const row = { ...about, is_llm_message: true, metadata: {}, created_at: '2026-01-01T00:00:00.000Z' };

  expect(message.safeParse({ ...row, content: image(kept) }).success).toBe(true);
  expect(message.safeParse({ ...row, content: image(pngSource()) }).success).toBe(false);
});
