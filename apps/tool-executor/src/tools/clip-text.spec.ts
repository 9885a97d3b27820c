import fc from 'fast-check';
import { clipMiddle } from './clip-text';

describe('clipMiddle', () => {
  it('returns a text that fits unchanged', () => {
    expect(clipMiddle('abc', { limit: 3 })).toEqual({ text: 'abc', truncated: false });
  });

  it('keeps the beginning and the end and says what is missing', () => {
    const text = `${'a'.repeat(20_000)}${'b'.repeat(5_000)}${'c'.repeat(20_000)}`;

    const clipped = clipMiddle(text);

    expect(clipped).toEqual({
      text: `${'a'.repeat(15_000)}\n\n[… 15000 characters left out …]\n\n${'c'.repeat(15_000)}`,
      truncated: true,
    });
  });

  it('never splits a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 2, max: 40 }), (text, limit) => {
        expect(clipMiddle(text, { limit }).text).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});
