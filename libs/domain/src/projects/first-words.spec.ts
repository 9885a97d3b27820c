import { firstWords } from './title';

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
