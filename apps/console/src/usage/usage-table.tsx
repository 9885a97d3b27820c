import type { ReactNode } from 'react';
import { count, cost } from '../ui/amounts.ts';
import { Table } from '../ui/table.tsx';
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
    <Table
      label={label}
      columns={[first, ['Calls', 'number'], ['Tokens in', 'number'], ['Tokens out', 'number'], ['Cost', 'number']]}
    >
      {rows.map((row) => (
        <tr key={toName(row)}>
          <th scope="row">{toCell(row)}</th>
          <td className="number">{count(row.calls)}</td>
          <td className="number">{count(row.input_tokens)}</td>
          <td className="number">{count(row.output_tokens)}</td>
          <td className="number">{cost(row.cost_usd)}</td>
        </tr>
      ))}
    </Table>
  );
}
