import type { PlanItem } from './run-details.ts';

interface PlanListProps {
  readonly plan: readonly PlanItem[];
}

/** The items of a plan, with marks for those that are done. */
export function PlanList({ plan }: PlanListProps) {
  return (
    <ul className="plan">
      {plan.map(({ text, isDone }, index) => (
        <li key={index} className={isDone ? 'done' : undefined}>
          {text}
        </li>
      ))}
    </ul>
  );
}

/** `Plan, 2 of 5`. */
export const countDone = (plan: PlanListProps['plan']): string =>
  `Plan, ${plan.filter(({ isDone }) => isDone).length} of ${plan.length}`;
