import { inLanes } from '../test-bed/pace';
import { type RunRequest, stepsOfTwo } from '../test-bed/run-requests';
import { type LaunchedRun, launch, settle } from '../test-bed/start-runs';
import type { TestBed } from '../test-bed/test-bed';
import { asking, endless, reading, toSummarizedRun, usual, writing } from './upgrade-runs';
import type { WatchedRuns } from '../test-bed/watched-runs';

const kinds = ['steps', 'summary', 'steps', 'question', 'steps', 'thread', 'usual', 'stop'] as const;
type Kind = (typeof kinds)[number];

interface Size {
  readonly atOnce: number;
  /** Of a run of many steps. */
  readonly iterations: number;
  /** In milliseconds. A run that has not settled by then is not waited for. */
  readonly withinMs: number;
}

/** Runs of every kind whose course involves several services, each watched from its beginning. */
export class UpgradeLoad {
  readonly runs: LaunchedRun[] = [];
  /** The runs that were asked to stop. */
  readonly stopped = new Set<string>();

  constructor(
    private readonly testBed: TestBed,
    private readonly watched: WatchedRuns,
    private readonly size: Size,
  ) {}

  /** Starts runs until `over` aborts, and resolves when all have settled. */
  run(over: AbortSignal): Promise<void> {
    return inLanes({ over, atOnce: this.size.atOnce }, (n) =>
      this.play(kinds[n % kinds.length] ?? 'steps', `upgrade-${n}`),
    );
  }

  private play(kind: Kind, tag: string): Promise<unknown> {
    const { effects } = this.testBed;
    switch (kind) {
      case 'steps':
        return this.done(stepsOfTwo(effects, { tag, iterations: this.size.iterations }));
      case 'summary':
        return this.done(toSummarizedRun(tag));
      case 'usual':
        return this.done(usual(tag));
      case 'question':
        return this.playQuestion(tag);
      case 'thread':
        return this.playThread(tag);
      case 'stop':
        return this.playStop(tag);
    }
  }

  private async playQuestion(tag: string): Promise<void> {
    const run = await this.done(asking(this.testBed.effects, tag));
    if (run.settled?.status !== 'waiting_input') return;
    this.testBed.progress.ended -= 1;
    await this.testBed.client.runs.answer(run.id, 'Yes.');
    await this.waitForRun(run);
  }

  private async playThread(tag: string): Promise<void> {
    const first = await this.begin(writing(tag));
    const second = await this.begin(reading(this.testBed.effects, `${tag}/next`, first));
    await Promise.all([this.waitForRun(first), this.waitForRun(second)]);
  }

  private async playStop(tag: string): Promise<void> {
    const run = await this.begin(endless(tag));
    await this.watched.until(run.id, ({ type, iteration }) => type === 'tool.started' && iteration === 2);
    this.stopped.add(run.id);
    await this.testBed.client.requestStop(run.id);
    await this.waitForRun(run);
  }

  private async done(request: RunRequest): Promise<LaunchedRun> {
    return this.waitForRun(await this.begin(request));
  }

  private async begin(request: RunRequest): Promise<LaunchedRun> {
    const run = await launch(this.testBed, request);
    this.runs.push(run);
    this.watched.watch(run.id);
    return run;
  }

  private waitForRun(run: LaunchedRun): Promise<LaunchedRun> {
    return settle(this.testBed, run, this.size.withinMs);
  }
}
