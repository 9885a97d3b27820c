import type { Evaluation } from '@rondo/client';

/** The share of right answers among those that were scored. */
export const scoreText = ({ right, scored }: Evaluation): string =>
  scored === 0 ? 'not scored' : `${Math.round((100 * right) / scored)} %`;

/** The score with its bar. */
export function Score({ evaluation }: { readonly evaluation: Evaluation }) {
  const { right, scored, name } = evaluation;
  return (
    <span className="score">
      <b>{scoreText(evaluation)}</b>
      {scored > 0 && <meter aria-label={`Score of ${name}`} min={0} max={scored} value={right} />}
      <span className="hint">
        {right} of {scored}
      </span>
    </span>
  );
}
