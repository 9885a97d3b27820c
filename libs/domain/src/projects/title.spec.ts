import { toPlaceholder, titleIn, titleRequest } from './title';

describe('a placeholder', () => {
  it('is the beginning of the first input', () => {
    expect(toPlaceholder('Write a shell script that counts to fifteen.')).toBe('Write a shell script that…');
    expect(toPlaceholder('Short.')).toBe('Short.');
  });
});

describe('the title in a reply', () => {
  it.each([
    ['Autumn poem', 'Autumn poem'],
    ['**"Autumn Poem."**\n', 'Autumn Poem'],
    ['# Title: Autumn poem', 'Autumn poem'],
    ['Title: Autumn poem', 'Autumn poem'],
    ['Autumn poem\nand an explanation', 'Autumn poem'],
    ['\u001b[31mRed\u0007\u202e', '[31mRed'],
    ['word '.repeat(30), `${'word '.repeat(12).trim()}…`],
  ])('of %j is %j', (reply, title) => {
    expect(titleIn(reply)).toBe(title);
  });

  it.each(['', ' \n ', '***', '""'])('of %j is none', (reply) => {
    expect(titleIn(reply)).toBeUndefined();
  });
});

describe('the request for a title', () => {
  it('has no tools, and only the beginning of the input', () => {
    const { tools, messages } = titleRequest('x'.repeat(100_000), 'demo/title');
    expect(tools).toEqual([]);
    expect(JSON.stringify(messages).length).toBeLessThan(2_200);
  });
});
