import type { ReactNode } from 'react';

interface TableProps {
  readonly label: string;
  /** Names of columns; those of numbers are to the right. */
  readonly columns: readonly (string | readonly [name: string, kind: 'number'])[];
  /** Whether the last column, which shows no name, has what can be done with a row. */
  readonly hasActions?: boolean;
  readonly children: ReactNode;
}

/** A table that scrolls by itself where the page is narrow. Its children are the rows. */
export function Table({ label, columns, hasActions = false, children }: TableProps) {
  return (
    <div className="table" tabIndex={0} role="region" aria-label={label}>
      <table>
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
