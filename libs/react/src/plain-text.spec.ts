import { beginning, colouredText, plainText } from './plain-text.ts';

const escape = '\u001b';

it.each([
  ['colours', `${escape}[31mred${escape}[0m`, 'red'],
  ['titles and links of terminals', `${escape}]0;title\u0007a${escape}]8;;http://x${escape}\\b`, 'ab'],
  ['a line that is written over', '10%\r100%\r\ndone', '100%\ndone'],
  ['marks that turn the direction of text', 'user\u202egnp.exe\u2066', 'usergnp.exe'],
  ['other controls', 'a\u0000b\u0008c\td', 'abc\td'],
  ['an escape that is cut off', `a${escape}`, 'a'],
])('plain text has no %s', (_, text, plain) => {
  expect(plainText(text)).toBe(plain);
});

it('coloured text keeps the colours, and nothing else that plain text has not', () => {
  const text = `${escape}[1;31mred${escape}[0m${escape}[2K\u0000 10%\r${escape}[32m100%${escape}[m\n${escape}]0;t\u0007x\u202e`;
  expect(colouredText(text)).toBe(`${escape}[32m100%${escape}[m\nx`);
  expect(plainText(text)).toBe('100%\nx');
});

it('the beginning of a text ends between two signs, also where one of these consists of several', () => {
  expect(beginning('a🎉b', 2)).toBe('a');
  expect(beginning('a🎉b', 3)).toBe('a🎉');
  expect(beginning('👩‍👧‍👦👩‍👧‍👦', 12)).toBe('👩‍👧‍👦');
  expect(beginning('short', 12)).toBe('short');
});
