/** What an experiment has done so far, for progress reports. */
export interface Progress {
  started: number;
  ended: number;
  faults: number;
}

export const noProgress = (): Progress => ({ started: 0, ended: 0, faults: 0 });
