/**
 * The figures of a load, and an error if a run was lost, failed, done twice or only in part.
 *
 * @typedef {object} ExaminedRun
 * @property {string} id
 * @property {string} status
 * @property {string} [error]
 * @property {readonly string[]} flaws
 * @property {number} doubled
 * @property {number} missing
 * @property {number} unclear
 * @property {number} restarted
 * @property {number} retried
 * @property {readonly number[]} times
 *
 * @param {{ runs: readonly ExaminedRun[], requests: number, failures: readonly string[] }} load
 * @param {{ requestsMayFail: boolean }} rule
 * @returns {string}
 */
export function toOutcome({ runs, requests, failures }, { requestsMayFail }) {
  const sum = (key) => runs.reduce((total, run) => total + run[key], 0);
  const bad = runs.filter(
    ({ status, flaws, doubled, missing }) => status !== 'completed' || flaws.length > 0 || doubled > 0 || missing > 0,
  );
  const completed = runs.filter(({ status }) => status === 'completed').length;
  const figures = [
    `${completed} of ${runs.length} runs completed`,
    `${sum('doubled')} steps doubled, ${sum('missing')} lost, ${sum('unclear')} of unclear outcome`,
    `${sum('restarted')} iterations begun again, ${sum('retried')} model calls tried again`,
    `${failures.length} of ${requests} requests failed`,
  ].join('; ');
  const problems = [
    ...bad.slice(0, 10).map(({ times: _times, ...run }) => JSON.stringify(run)),
    ...(requestsMayFail ? [] : failures.slice(0, 10)),
    ...(runs.length === 0 ? ['there was no run'] : []),
  ];
  if (problems.length > 0) throw new Error([figures, ...problems].join('\n'));
  return figures;
}

/**
 * How long each run that was under way at `since` stood still within the time after it: the longest time between two of its facts, in
 * milliseconds, the shortest first.
 *
 * @param {readonly ExaminedRun[]} runs
 * @param {{ since: number, withinMs: number }} moment
 * @returns {number[]}
 */
export function standstills(runs, { since, withinMs }) {
  const live = runs.filter(({ times }) => times[0] < since && times.at(-1) > since);
  const pauses = live.map(({ times }) => {
    const gaps = times.slice(1).map((at, index) => ({ from: times[index], at }));
    return Math.max(
      ...gaps.filter(({ from, at }) => at > since && from < since + withinMs).map(({ from, at }) => at - from),
    );
  });
  return pauses.sort((one, other) => one - other);
}
