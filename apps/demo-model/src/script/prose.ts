const sentence = 'The quick brown fox jumps over the lazy dog, and the dog lets it pass. ';

/** Text of `tokens` tokens, by this server's estimate. */
export function toProse(tokens: number): string {
  const chars = tokens * 4;
  return sentence.repeat(Math.ceil(chars / sentence.length)).slice(0, chars);
}
