type Times = Readonly<Record<string, number>>;

export const computeSum = (times: Times): number => Object.values(times).reduce((sum, ms) => sum + ms, 0);

/** CPU time of each process between two readings, divided by the amount of work. */
export const toSpentPer = (pieces: number, before: Times, after: Times): Record<string, number> =>
  Object.fromEntries(Object.keys(after).map((name) => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / pieces]));
