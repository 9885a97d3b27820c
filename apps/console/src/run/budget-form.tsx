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

/** A run that has used up its budget, or that of the run which began its tree, goes on with a higher one. */
export function BudgetForm({ runId, budget }: BudgetFormProps) {
  const rondo = useRondo();
  const refreshKey = useRefreshKey();
  const mayWrite = useMay('write');
  if (!budget) return null;
  const limits = listLimits(budget);
  const raise = async (fields: FormData) => {
    const amounts = limits.map(({ name }) => [name, readNumber(fields, name) ?? 0] as const);
    await rondo.runs.raiseBudget(budget.root_run_id ?? runId, Object.fromEntries(amounts));
    await refreshKey(['inbox']);
  };
  const who =
    budget.root_run_id === undefined ? 'It has' : 'The run that it belongs to and all runs below that one have';
  const spent = `${who} ${limits.map(({ words }) => words).join(', and ')}.`;
  if (!mayWrite) return <p>{spent}</p>;
  const mostUsed = limits.toSorted((a, b) => b.share - a.share)[0];
  return (
    <Form
      key={limits.map(({ most }) => most).join(' ')}
      work={raise}
      button="Raise, and go on"
      label="Raise the budget"
    >
      <p>{spent}</p>
      {limits.map(({ name, unit, most, step }) => (
        <TextField
          key={name}
          label={`New budget, in ${unit}`}
          name={name}
          type="number"
          min={most}
          step={step}
          required
          defaultValue={String(name === mostUsed?.name ? 2 * most : most)}
        />
      ))}
    </Form>
  );
}

interface Limit {
  readonly name: 'usd' | 'tokens';
  readonly unit: string;
  readonly most: number;
  readonly step: number | 'any';
  /** How much of it is used. */
  readonly share: number;
  readonly words: string;
}

/** A budget may be in money, in tokens or in both, and the run waits for whichever is used up. */
function listLimits({ usd, tokens, ...spent }: NonNullable<Waiting['budget']>): Limit[] {
  const share = (part: number | null, most: number) => (part === null || most === 0 ? 1 : part / most);
  const ofMoney = (most: number): Limit => ({
    name: 'usd',
    unit: 'USD',
    most,
    step: 'any',
    share: share(spent.spent_usd, most),
    words: `spent ${cost(spent.spent_usd)} of ${cost(most)}`,
  });
  const ofTokens = (most: number): Limit => ({
    name: 'tokens',
    unit: 'tokens',
    most,
    step: 1,
    share: share(spent.spent_tokens, most),
    words: `used ${count(spent.spent_tokens)} of ${count(most)} tokens`,
  });
  return [...(usd === null ? [] : [ofMoney(usd)]), ...(tokens === null ? [] : [ofTokens(tokens)])];
}
