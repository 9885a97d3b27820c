import fc from 'fast-check';
import { maxTokens } from './context-meter';

it('bounds the tokens of a text by its bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(maxTokens(text)).toBe(Buffer.byteLength(text));
    }),
  );
});
