import { plainText } from './plain-text';

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
