import { join } from 'node:path';
import type { Experiment } from './experiment';
import type { Findings } from './scorecard/findings';
import { type Result, missedIn } from './scorecard/scorecard';
import { scales } from './scale';
import { type Scale, Stage } from './stage/stage';
import { type Tally, nothingYet } from './tally';

/** Whoever wants to know how far it is. */
export interface Watcher {
  /** Called now and then while an experiment runs. */
  progress(name: string, tally: Tally): void;
  done(result: Result, missed: readonly string[]): void;
}

export interface CampaignRequest {
  readonly scale: Scale['name'];
  readonly watcher: Watcher;
  /** Where the logs of an experiment go that missed a bar. */
  readonly logsIn: string;
  /** Is told what would be left running if the campaign were cut short. */
  readonly owns?: (stage: Stage) => unknown;
}

const progressEveryMs = 1_000;

/** Makes one experiment after the other; what one breaks the next does not see. */
export async function runCampaign(
  experiments: readonly Experiment[],
  { watcher, ...request }: CampaignRequest,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const experiment of experiments) {
    const tally = nothingYet();
    const pulse = setInterval(() => watcher.progress(experiment.name, tally), progressEveryMs);
    const result = await runExperiment(experiment, tally, request);
    clearInterval(pulse);
    watcher.done(result, missedIn(result));
    results.push(result);
  }
  return results;
}

async function runExperiment(
  experiment: Experiment,
  tally: Tally,
  request: Omit<CampaignRequest, 'watcher'>,
): Promise<Result> {
  const { name, title } = experiment;
  const since = performance.now();
  const seconds = () => Math.round((performance.now() - since) / 100) / 10;
  try {
    const findings = await onStage(experiment, tally, request);
    return { name, title, seconds: seconds(), findings };
  } catch (error) {
    return { name, title, seconds: seconds(), error: error instanceof Error ? error.message : String(error) };
  }
}

async function onStage(
  experiment: Experiment,
  tally: Tally,
  { scale, logsIn, owns }: Omit<CampaignRequest, 'watcher'>,
): Promise<Findings> {
  const { leases } = scales[scale];
  const stage = await Stage.open(tally, { leases, ...experiment.deployment?.(scales[scale]) });
  owns?.(stage);
  let isWell = false;
  try {
    const findings = await experiment.run(stage, scales[scale]);
    isWell = findings.bars.every(({ met }) => met);
    return findings;
  } finally {
    if (!isWell) stage.copyLogs(join(logsIn, experiment.name));
    await stage.stop();
  }
}
