import type { Balance } from '@rondo/client';
import { cost, moment } from '../ui/amounts.ts';
import { Figure } from '../ui/figure.tsx';

/** What an account may spend in its period, and has left. */
export function BalanceFigures({ balance }: { readonly balance: Balance }) {
  const { allowance_usd: allowance, spent_usd: spent, reserved_usd: reserved, credit_usd: credit } = balance;
  return (
    <div className="balance">
      {allowance !== null && (
        <meter
          min={0}
          max={Math.max(allowance, spent + reserved, Number.MIN_VALUE)}
          value={spent + reserved}
          aria-label="What is spent of the allowance"
        />
      )}
      <p>{toSentence(balance)}</p>
      <dl className="figures">
        <Amount name="Left to spend" usd={balance.available_usd} />
        <Amount name={`Allowance of a ${balance.period}`} usd={allowance} />
        <Amount name="Spent" usd={spent} />
        {reserved > 0 && <Amount name="Reserved for calls under way" usd={reserved} />}
        <Amount name="Credit" usd={credit} />
      </dl>
      <p className="hint">{toLimits(balance)}</p>
    </div>
  );
}

function toSentence({ available_usd: available, period, period_end: end, credit_usd: credit }: Balance): string {
  if (available === null) return 'This account may spend any amount.';
  const next = `The next ${period} begins ${moment(end)}.`;
  if (available <= 0) return `Nothing is left: new runs are refused. ${next}`;
  return credit < 0 ? `The credit is below zero: that is taken from the next ${period}. ${next}` : next;
}

function toLimits({ allowed_models: models, max_active_runs: runs, price_factor: factor }: Balance): string {
  const which = models === null ? 'Any model' : `Models: ${models.join(', ')}`;
  const atOnce = runs === null ? '' : ` At most ${runs} active runs.`;
  const charge = factor === 1 ? '' : ` A model call is charged ${factor} times its cost.`;
  return `${which}.${atOnce}${charge}`;
}

function Amount({ name, usd }: { readonly name: string; readonly usd: number | null }) {
  return <Figure name={name} value={usd === null ? 'any amount' : cost(usd)} />;
}
