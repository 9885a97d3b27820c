/** The size of each measure. */
export interface Scale {
  /** The worker's lease times: as in production, or short to save time. */
  readonly leases: 'production' | 'short';
  readonly rounds: number;
  /** Length of one measurement, after a quarter of it to get up to speed. */
  readonly seconds: number;
  /** Time under full load before the first measurement, because V8 goes on compiling for that long. */
  readonly warmUpSeconds: number;
  /** Concurrent clients in the measures under full load. */
  readonly clients: number;
  readonly firstTokens: number;
  readonly bursts: number;
  readonly burstTokens: number;
  readonly pacedStreams: number;
  readonly facadeStreams: number;
  readonly activeRuns: number;
  readonly parkedRuns: number;
  readonly idleSockets: number;
  /** From the last run on, until a deployment does not look for work every second any more. */
  readonly untilIdleMs: number;
  /** How long processes rest before their memory is read. */
  readonly restMs: number;
  readonly runsInFlight: number;
  /** Requests of each run whose tokens are counted. */
  readonly countedTurns: number;
  /**
   * Iterations of history in all threads of one length together: a short history is measured on more threads, because
   * CPU time is counted in hundredths of a second.
   */
  readonly grownIterations: number;
  /** Iterations of history before the measured ones, in ascending order. */
  readonly histories: readonly [number, ...number[]];
}

export const whole: Scale = {
  leases: 'production',
  rounds: 5,
  seconds: 4,
  warmUpSeconds: 120,
  clients: 50,
  firstTokens: 40,
  bursts: 10,
  burstTokens: 20_000,
  pacedStreams: 40,
  facadeStreams: 200,
  activeRuns: 1_000,
  parkedRuns: 10_000,
  idleSockets: 5_000,
  untilIdleMs: 30_000,
  restMs: 2_000,
  runsInFlight: 20,
  countedTurns: 50,
  grownIterations: 400,
  histories: [10, 100, 1_000],
};

/** Runs every measure once, too briefly for meaningful times. */
export const short: Scale = {
  leases: 'short',
  rounds: 1,
  seconds: 0.4,
  warmUpSeconds: 1,
  clients: 4,
  firstTokens: 2,
  bursts: 1,
  burstTokens: 500,
  pacedStreams: 4,
  facadeStreams: 8,
  activeRuns: 20,
  parkedRuns: 20,
  idleSockets: 20,
  untilIdleMs: 400,
  restMs: 100,
  runsInFlight: 4,
  countedTurns: 4,
  grownIterations: 8,
  histories: [2, 4, 8],
};
