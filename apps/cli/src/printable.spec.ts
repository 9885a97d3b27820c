import fc from 'fast-check';
import { printable } from './terminal';

describe('printable', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', '[31mred[0m'],
    ["a terminal's title", '\u001b]0;title\u0007x', ']0;titlex'],
    ['8-bit control sequences', '\u009b2Jx', '2Jx'],
    ['marks that reverse text', 'a\u202eb\u2066c', 'abc'],
    ['backspaces', 'yes\b\b\bno', 'yesno'],
    ['progress bars', '1%\r2%\r\n3%', '1%\n2%\n3%'],
  ])('makes %s harmless', (_, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('keeps every other text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const harmless = text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '');
        expect(printable(harmless)).toBe(harmless);
      }),
    );
  });
});
