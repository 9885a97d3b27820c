/** The longest slice that is counted at once; the worst case (one word of three-byte letters) takes 10 ms. */
export const maxSliceLength = 512;

/**
 * Divides a text into slices. It is cut before a single space between two words, where every tokenizer cuts as well, so
 * that the sum of the tokens is exact; a slice without such a space is cut anywhere, which may add a token.
 */
export function* listSlices(text: string): Generator<string, void> {
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
    if (text[at] === ' ' && isVisible(text[at - 1]) && isVisible(text[at + 1])) return at;
  }
  const splitsPair = /[\uDC00-\uDFFF]/.test(text.charAt(end)) && /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return splitsPair ? end - 1 : end;
}

const isVisible = (letter: string | undefined): boolean => letter !== undefined && /\S/.test(letter);
