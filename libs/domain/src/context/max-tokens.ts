/**
 * An upper bound: no tokenizer makes more tokens of a text than it has UTF-8 bytes. A prompt that fits by this bound
 * needs no counting.
 */
export function maxTokens(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
