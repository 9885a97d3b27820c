/** Moves a cut that would fall between the halves of a surrogate pair one unit back. */
export function characterStart(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  const isLowSurrogate = unit >= 0xdc00 && unit <= 0xdfff;
  return isLowSurrogate ? index - 1 : index;
}
