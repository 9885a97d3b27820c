type Cell = string | number | boolean | null | undefined;

/** Rows as RFC 4180, with a header. A missing value is an empty field. */
export const csvOf = <Column extends string>(
  columns: readonly Column[],
  rows: readonly { readonly [Key in Column]?: Cell }[],
): string => [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(lineOf).join('');

const lineOf = (cells: readonly Cell[]): string => `${cells.map(fieldOf).join(',')}\r\n`;

/** A text that a spreadsheet would take for a formula is preceded by an apostrophe. */
function fieldOf(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
