import type { ReactNode } from 'react';

interface TableProps {
  readonly label: string;
  readonly columns: readonly string[];
  /** Whether the last column, without a name, has what can be done with a row. */
  readonly hasActions?: boolean;
  readonly children: ReactNode;
}

/** A table that scrolls by itself where the page is narrow. */
export function Table({ label, columns, hasActions = false, children }: TableProps) {
  return (
    <div className="table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
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
