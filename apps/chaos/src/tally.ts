/** What an experiment has done so far, for whoever watches it. */
export interface Tally {
  started: number;
  ended: number;
  faults: number;
}

export const nothingYet = (): Tally => ({ started: 0, ended: 0, faults: 0 });
