import { count, cost } from '../ui/amounts.ts';
import { type Day, type Measure, toAmount, roundUp } from './usage-days.ts';

const names: Record<Measure, string> = { cost: 'Cost', tokens: 'Tokens', calls: 'Calls' };

export const amountText = (amount: number, measure: Measure): string =>
  measure === 'cost' ? cost(amount) : count(amount);

interface UsageChartProps {
  readonly days: readonly Day[];
  readonly measure: Measure;
}

/** A bar for each day. Its name says in words what it shows, and the table below has every number. */
export function UsageChart({ days, measure }: UsageChartProps) {
  const amounts = days.map(({ row }) => toAmount(row, measure));
  const scale = roundUp(Math.max(...amounts));
  return (
    <figure className="chart">
      <div className="chart-scale" aria-hidden="true">
        <span>{amountText(scale, measure)}</span>
        <span>{amountText(scale / 2, measure)}</span>
        <span>0</span>
      </div>
      <svg
        viewBox={`0 0 ${days.length * 10} 100`}
        preserveAspectRatio="none"
        role="img"
        aria-label={toSummary(days, measure)}
      >
        {[0, 50, 100].map((y) => (
          <line key={y} x1="0" x2={days.length * 10} y1={y} y2={y} vectorEffect="non-scaling-stroke" />
        ))}
        {days.map(({ day }, index) => {
          const amount = amounts[index] ?? 0;
          const height = amount === 0 ? 0 : Math.max(1, (amount / scale) * 100);
          return (
            <rect key={day} x={index * 10 + 1.5} y={100 - height} width="7" height={height}>
              <title>{`${day}: ${amountText(amount, measure)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption className="chart-days">
        <span>{days[0]?.day}</span>
        <span>{days.at(-1)?.day}, UTC</span>
      </figcaption>
    </figure>
  );
}

/** What someone who does not see the bars should know. */
export function toSummary(days: readonly Day[], measure: Measure): string {
  const amounts = days.map(({ row }) => toAmount(row, measure));
  const sum = amounts.reduce((total, amount) => total + amount, 0);
  const most = Math.max(...amounts);
  const peak = days[amounts.indexOf(most)];
  const range = `${names[measure]} per day, from ${days[0]?.day ?? ''} to ${days.at(-1)?.day ?? ''}`;
  if (sum === 0) return `${range}: nothing.`;
  return `${range}: ${amountText(sum, measure)} in all, most of it ${amountText(most, measure)} on ${peak?.day ?? ''}.`;
}
