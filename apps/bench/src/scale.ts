/** How much of everything is measured. */
export interface Scale {
  /** The worker's lease times: as in production, or short to save time. */
  readonly leases: 'production' | 'short';
  readonly rounds: number;
  /** Of a slice, after it has come up to speed. */
  readonly seconds: number;
  /** Under full load, before anything is measured: V8 goes on compiling for that long. */
  readonly warmUpSeconds: number;
  /** Runs at the same time, where many are. */
  readonly crowd: number;
  readonly firstTokens: number;
  readonly bursts: number;
  readonly burstTokens: number;
  readonly pacedStreams: number;
  readonly activeRuns: number;
  readonly parkedRuns: number;
  readonly idleSockets: number;
  /** How long processes rest before their memory is read. */
  readonly restMs: number;
  readonly runsInFlight: number;
  /** In all threads of one length: a shorter history is measured on more of them, to be seen in hundredths of a second. */
  readonly grownIterations: number;
  /** Iterations of history, from little to much. */
  readonly histories: readonly [number, ...number[]];
}

export const whole: Scale = {
  leases: 'production',
  rounds: 5,
  seconds: 4,
  warmUpSeconds: 120,
  crowd: 50,
  firstTokens: 40,
  bursts: 10,
  burstTokens: 20_000,
  pacedStreams: 40,
  activeRuns: 1_000,
  parkedRuns: 10_000,
  idleSockets: 5_000,
  restMs: 2_000,
  runsInFlight: 20,
  grownIterations: 400,
  histories: [10, 100, 1_000],
};

/** Enough to see that everything works, and too little to learn anything about time. */
export const short: Scale = {
  leases: 'short',
  rounds: 1,
  seconds: 0.4,
  warmUpSeconds: 1,
  crowd: 4,
  firstTokens: 2,
  bursts: 1,
  burstTokens: 500,
  pacedStreams: 4,
  activeRuns: 20,
  parkedRuns: 20,
  idleSockets: 20,
  restMs: 100,
  runsInFlight: 4,
  grownIterations: 8,
  histories: [2, 4, 8],
};
