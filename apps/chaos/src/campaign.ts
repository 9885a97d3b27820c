import { join } from 'node:path';
import type { Experiment } from './experiment';
import type { Findings } from './scorecard/findings';
import { type Result, missedIn } from './scorecard/scorecard';
import { type Scale, TestBed } from './test-bed/test-bed';
import { type Progress, noProgress } from './progress';

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
  readonly reporter: ProgressReporter;
  /** Directory for the logs of experiments that missed a bar. */
  readonly logsIn: string;
  /** Registers the test bed, so that an interrupted command stops it. */
  readonly owns?: (testBed: TestBed) => unknown;
}

const scales: Record<Scale['name'], Scale> = {
  full: { name: 'full', leases: 'production', quietMs: 120_000 },
  small: { name: 'small', leases: 'short', quietMs: 60_000 },
};

const progressEveryMs = 1_000;

/** Runs the experiments one after another, each on a test bed of its own. */
export async function runCampaign(
  experiments: readonly Experiment[],
  { reporter, ...request }: CampaignRequest,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const experiment of experiments) {
    const progress = noProgress();
    const pulse = setInterval(() => reporter.progress(experiment.name, progress), progressEveryMs);
    const result = await runExperiment(experiment, progress, request);
    clearInterval(pulse);
    reporter.done(result, missedIn(result));
    results.push(result);
  }
  return results;
}

async function runExperiment(
  experiment: Experiment,
  progress: Progress,
  request: Omit<CampaignRequest, 'reporter'>,
): Promise<Result> {
  const { name, title } = experiment;
  const since = performance.now();
  const seconds = () => Math.round((performance.now() - since) / 100) / 10;
  try {
    const findings = await onTestBed(experiment, progress, request);
    return { name, title, seconds: seconds(), findings };
  } catch (error) {
    return { name, title, seconds: seconds(), error: error instanceof Error ? error.message : String(error) };
  }
}

async function onTestBed(
  experiment: Experiment,
  progress: Progress,
  { scale: name, minutes, from, logsIn, owns }: Omit<CampaignRequest, 'reporter'>,
): Promise<Findings> {
  const scale: Scale = {
    ...scales[name],
    ...(minutes !== undefined && { minutes }),
    ...(from !== undefined && { from }),
  };
  const differences = await experiment.deployment?.(scale);
  const testBed = await TestBed.open(progress, { leases: scale.leases, ...differences });
  owns?.(testBed);
  let isWell = false;
  try {
    const findings = await experiment.run(testBed, scale);
    isWell = findings.bars.every(({ met }) => met);
    return findings;
  } finally {
    if (!isWell) testBed.copyLogs(join(logsIn, experiment.name));
    await testBed.stop();
  }
}
