/** The beginning of a text in one line, at most `length` characters and an ellipsis. It ends with a whole word if that is not far. */
export function firstWords(text: string, length: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  const characters = Array.from(line.slice(0, 2 * length + 2));
  if (characters.length <= length) return line;
  const cut = characters.slice(0, length).join('');
  const end = characters[length] === ' ' ? cut.length : cut.lastIndexOf(' ');
  return `${(end > cut.length / 2 ? cut.slice(0, end) : cut).trimEnd()}…`;
}
