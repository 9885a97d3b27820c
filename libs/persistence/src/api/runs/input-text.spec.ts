import { firstWords, inputText } from './input-text';

const text = (words: string) => ({ type: 'text' as const, text: words });

describe('the text of an input', () => {
  it('is that of its blocks of text', () => {
    expect(inputText([text('Read this:'), text('a\nb')])).toBe('Read this:\na\nb');
  });

  it('is none where there is nothing to search', () => {
    expect(inputText([text(' \n')])).toBeUndefined();
    expect(inputText([])).toBeUndefined();
  });
});

describe('the first words of a text', () => {
  it.each([
    ['Two words', 'Two words'],
    [' one\n\tline ', 'one line'],
    ['Write a poem about autumn', 'Write a poem…'],
    ['Supercalifragilistic word', 'Supercalifrag…'],
    ['Write a poem! Now.', 'Write a poem!…'],
    ['🙂'.repeat(14), `${'🙂'.repeat(13)}…`],
    ['🙂'.repeat(13), '🙂'.repeat(13)],
  ])('of %j are %j', (given, expected) => {
    expect(firstWords(given, 13)).toBe(expected);
  });
});
