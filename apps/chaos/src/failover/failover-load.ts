import { inLanes } from '../test-bed/pace';
import { isGone } from '../test-bed/patient-client';
import { quiet, type LaunchedRun, launch, settle } from '../test-bed/start-runs';
import { stepsOfTwo, unsafeCall, unsafeCommand } from '../test-bed/run-requests';
import type { TestBed } from '../test-bed/test-bed';
import { WatchedRuns } from '../test-bed/watched-runs';

interface Size {
  readonly about: string;
  /** At any time. */
  readonly live: number;
  readonly iterations: number;
  readonly paceMs: number;
}

const settledWithinMs = 300_000;
/** The others have their unsafe effects by requests, which need no sandbox. */
const everyNthInSandbox = 8;

/** Runs that come and go, each watched from its beginning. */
export class FailoverLoad {
  /** Those that exist. */
  readonly runs: LaunchedRun[] = [];
  readonly watched: WatchedRuns;
  readonly tagsOfGone = new Set<string>();

  constructor(
    private readonly testBed: TestBed,
    private readonly size: Size,
  ) {
    this.watched = new WatchedRuns(testBed);
  }

  /** Starts runs during the faults, and resolves when all have settled and their streams have ended. */
  async during(faults: () => Promise<void>, quietMs: number): Promise<void> {
    const over = new AbortController();
    const lanes = inLanes({ over: over.signal, atOnce: this.size.live }, (n) => this.play(n));
    await Promise.all([lanes, faults().finally(() => over.abort())]);
    await quiet(this.testBed, this.runs, quietMs);
    await this.watched.waitForEnds(quietMs);
  }

  private async play(n: number): Promise<void> {
    const { about, iterations, paceMs } = this.size;
    const unsafe = n % everyNthInSandbox === 0 ? unsafeCommand : unsafeCall;
    const request = stepsOfTwo(this.testBed.effects, { tag: `${about}-${n}`, iterations, paceMs, unsafe });
    const run = await launch(this.testBed, request);
    this.watched.watch(run.id);
    try {
      this.runs.push(await settle(this.testBed, run, settledWithinMs));
    } catch (error) {
      if (!isGone(error)) throw error;
      this.tagsOfGone.add(run.tag);
    }
  }
}
