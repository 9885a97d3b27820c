/** No more of a text is counted at once; at worst (one word of three-byte letters) that takes 10 ms. */
export const maxSliceLength = 512;

/**
 * A text in slices. They are cut before a single space between two words, where every tokenizer cuts as well, so that
 * the sum of their tokens is exact; a slice without such a place is cut anywhere, which may add a token.
 */
export function* slicesOf(text: string): Generator<string, void> {
  let start = 0;
  while (text.length - start > maxSliceLength) {
    const end = cutBefore(text, start, start + maxSliceLength);
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

function cutBefore(text: string, start: number, end: number): number {
  for (let at = end; at > start + maxSliceLength / 2; at--) {
    if (text[at] === ' ' && isInk(text[at - 1]) && isInk(text[at + 1])) return at;
  }
  const splitsPair = /[\uDC00-\uDFFF]/.test(text.charAt(end)) && /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return splitsPair ? end - 1 : end;
}

const isInk = (letter: string | undefined): boolean => letter !== undefined && /\S/.test(letter);
