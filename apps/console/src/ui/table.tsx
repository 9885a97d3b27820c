import type { CSSProperties, ReactNode } from 'react';

interface TableProps {
  readonly label: string;
  /** Names of columns; those of numbers are to the right. */
  readonly columns: readonly (string | readonly [name: string, kind: 'number'])[];
  /** Whether the last column, which shows no name, has what can be done with a row. */
  readonly hasActions?: boolean;
  readonly children: ReactNode;
}

/** So many columns fit on a phone. */
const mostOnPhone = 3;

/** The names of the columns for the style sheet, which says them in each row of a phone. */
const toNames = (columns: TableProps['columns']): CSSProperties =>
  Object.fromEntries(columns.map((column, index) => [`--column-${index + 1}`, JSON.stringify([column].flat()[0])]));

/**
 * A table whose rows are cards where the page is narrow; one of few columns scrolls by itself there. Its children are the rows, and
 * the first column says what a row is about.
 */
export function Table({ label, columns, hasActions = false, children }: TableProps) {
  const isWide = columns.length > mostOnPhone;
  return (
    <div className={isWide ? 'table cards' : 'table'} tabIndex={0} role="region" aria-label={label}>
      <table style={isWide ? toNames(columns) : undefined}>
        <thead>
          <tr>
            {columns.map((column) => {
              const [name, kind] = typeof column === 'string' ? [column] : column;
              return (
                <th key={name} scope="col" className={kind}>
                  {name}
                </th>
              );
            })}
            {hasActions && (
              <th scope="col">
                <span className="unseen">What can be done</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
