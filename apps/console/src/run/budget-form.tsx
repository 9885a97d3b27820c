import type { Waiting } from '@rondo/client';
import { useMay, useRondo } from '../session/use-session.ts';
import { cost, count } from '../ui/amounts.ts';
import { TextField } from '../ui/fields.tsx';
import { Form, readNumber } from '../ui/form.tsx';
import { useRefreshKey } from '../ui/use-refresh-key.ts';

interface BudgetFormProps {
  readonly runId: string;
  readonly budget: Waiting['budget'];
}

/** A run that has used up its budget goes on with a higher one. */
export function BudgetForm({ runId, budget }: BudgetFormProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  if (!budget) return null;
  const isMoney = budget.usd !== null;
  const name = isMoney ? 'usd' : 'tokens';
  const raise = async (fields: FormData) => {
    const amount = readNumber(fields, name) ?? 0;
    await rondo.runs.raiseBudget(runId, { [name]: amount });
    await refreshKey(['inbox']);
  };
  const spent = isMoney
    ? `It has spent ${cost(budget.spent_usd)} of ${cost(budget.usd)}.`
    : `It has used ${count(budget.spent_tokens)} of ${count(budget.tokens ?? 0)} tokens.`;
  if (!mayWrite) return <p>{spent}</p>;
  return (
    <Form work={raise} button="Raise, and go on" label="Raise the budget">
      <p>{spent}</p>
      <TextField
        label={isMoney ? 'New budget, in USD' : 'New budget, in tokens'}
        name={name}
        type="number"
        min={(isMoney ? budget.usd : budget.tokens) ?? 0}
        step={isMoney ? 'any' : 1}
        required
        defaultValue={String(2 * ((isMoney ? budget.usd : budget.tokens) ?? 0))}
      />
    </Form>
  );
}
