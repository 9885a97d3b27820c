import { join } from 'node:path';
import type { Experiment } from './experiment';
import type { Findings } from './scorecard/findings';
import { type Result, listMissed } from './scorecard/scorecard';
import { type Scale, TestBed, type Progress, noProgress } from './test-bed/test-bed';

/** Reports the progress of a campaign. */
export interface ProgressReporter {
  /** Called every second while an experiment runs. */
  progress(name: string, progress: Progress): void;
  done(result: Result, missed: readonly string[]): void;
}

export interface CampaignRequest {
  readonly scale: Scale['name'];
  readonly minutes?: number;
  readonly from?: string;
  /** Directory for the logs of experiments that missed a bar. */
  readonly logsIn: string;
  /** Registers the test beds, so that an interrupted command stops them. */
  readonly owns?: (testBed: TestBed) => unknown;
}

const scales: Record<Scale['name'], Scale> = {
  full: { name: 'full', leases: 'production', quietMs: 120_000 },
  small: { name: 'small', leases: 'short', quietMs: 60_000 },
};

const progressEveryMs = 1_000;

/** Runs the experiments one after another. */
export async function runCampaign(
  experiments: readonly Experiment[],
  { reporter, ...request }: CampaignRequest & { readonly reporter: ProgressReporter },
): Promise<Result[]> {
  const campaign = new Campaign(request);
  const results: Result[] = [];
  for (const experiment of experiments) {
    const progress = noProgress();
    const pulse = setInterval(() => reporter.progress(experiment.name, progress), progressEveryMs);
    const result = await campaign.run(experiment, progress);
    clearInterval(pulse);
    reporter.done(result, listMissed(result));
    results.push(result);
  }
  await campaign.end();
  return results;
}

/**
 * Each experiment has a test bed of its own. Only small ones that need no other deployment than the usual one have it one after
 * the other, because its nine services take as long to start as such an experiment.
 */
export class Campaign {
  private readonly scale: Scale;
  private idle: TestBed | undefined;

  constructor(private readonly request: CampaignRequest) {
    const { scale, minutes, from } = request;
    this.scale = { ...scales[scale], ...(minutes !== undefined && { minutes }), ...(from !== undefined && { from }) };
  }

  async run(experiment: Experiment, progress = noProgress()): Promise<Result> {
    const { name, title } = experiment;
    const since = performance.now();
    const seconds = () => Math.round((performance.now() - since) / 100) / 10;
    try {
      const findings = await this.onTestBed(experiment, progress);
      return { name, title, seconds: seconds(), findings };
    } catch (error) {
      return { name, title, seconds: seconds(), error: error instanceof Error ? error.message : String(error) };
    }
  }

  async end(): Promise<void> {
    await this.idle?.stop();
    this.idle = undefined;
  }

  private async onTestBed(experiment: Experiment, progress: Progress): Promise<Findings> {
    const testBed = await this.findTestBed(experiment, progress);
    let isWell = false;
    try {
      const findings = await experiment.run(testBed, this.scale);
      isWell = findings.bars.every(({ met }) => met);
      return findings;
    } finally {
      if (!isWell) testBed.copyLogs(join(this.request.logsIn, experiment.name));
      if (isWell && this.mayShare(experiment)) this.idle = testBed;
      else await testBed.stop();
    }
  }

  private async findTestBed(experiment: Experiment, progress: Progress): Promise<TestBed> {
    const { idle } = this;
    this.idle = undefined;
    if (idle && this.mayShare(experiment)) return idle.renew(progress);
    await idle?.stop();
    const differences = await experiment.deployment?.(this.scale);
    const testBed = await TestBed.open(progress, { leases: this.scale.leases, ...differences });
    this.request.owns?.(testBed);
    return testBed;
  }

  private mayShare({ deployment }: Experiment): boolean {
    return this.scale.name === 'small' && deployment === undefined;
  }
}
