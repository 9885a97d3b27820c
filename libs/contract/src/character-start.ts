/** The index itself, or the one before it where a cut would split a surrogate pair. */
export function characterStart(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  const isLowSurrogate = unit >= 0xdc00 && unit <= 0xdfff;
  return isLowSurrogate ? index - 1 : index;
}
