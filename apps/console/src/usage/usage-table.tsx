import type { ReactNode } from 'react';
import { count, cost } from '../ui/amounts.ts';
import type { UsageRow } from './usage-days.ts';

interface UsageTableProps {
  readonly label: string;
  /** What the first column has. */
  readonly first: string;
  readonly rows: readonly UsageRow[];
  readonly toName: (row: UsageRow) => string;
  /** What stands in the first column, if it is more than the name. */
  readonly toCell?: (row: UsageRow) => ReactNode;
}

export function UsageTable({ label, first, rows, toName, toCell = toName }: UsageTableProps) {
  if (rows.length === 0) return <p className="hint">No model was called in this time.</p>;
  return (
    <div className="table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">{first}</th>
            {['Calls', 'Tokens in', 'Tokens out', 'Cost'].map((name) => (
              <th key={name} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={toName(row)}>
              <th scope="row">{toCell(row)}</th>
              <td className="number">{count(row.calls)}</td>
              <td className="number">{count(row.input_tokens)}</td>
              <td className="number">{count(row.output_tokens)}</td>
              <td className="number">{cost(row.cost_usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
