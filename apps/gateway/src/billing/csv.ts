type Cell = string | number | boolean | null | undefined;

/** Rows as RFC 4180, with a header. A missing value is an empty field. */
export const toCsv = <Column extends string>(
  columns: readonly Column[],
  rows: readonly { readonly [Key in Column]?: Cell }[],
): string => [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(toLine).join('');

const toLine = (cells: readonly Cell[]): string => `${cells.map(toField).join(',')}\r\n`;

/** A text that a spreadsheet would take for a formula is preceded by an apostrophe. */
function toField(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell !== 'string') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
