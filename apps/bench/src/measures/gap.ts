import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../clock';
import type { MeasuredSystem } from '../measured-system';
import { Clients } from '../clients';
import { type Exchange, gapsMs } from '../model/exchange';
import { ordinary } from '../model/plan';
import { percentile } from '../statistics';
import type { Comparison, Findings, MeasureContext } from './measure';

const less = { unit: 'ms', bounds: 'ratio', better: 'less' } as const;

const figures: Comparison['figures'] = [
  { key: 'light p50', title: 'gap between turns, 2 runs, p50', ...less, must: 3, goal: 2 },
  { key: 'light p99', title: 'gap between turns, 2 runs, p99', ...less },
  { key: 'many p50', title: 'gap between turns, many runs, p50', ...less, must: 2, goal: 1 },
  { key: 'many p99', title: 'gap between turns, many runs, p99', ...less },
  { key: 'many run p50', title: 'a whole run of these, submission to end, p50', ...less },
];

/**
 * The overhead of an iteration, measured at the model: from the end of an answer to the same run's next request. The
 * duration of whole runs is reported beside it, because starting runs later makes gaps shorter and runs longer.
 */
async function measure(system: MeasuredSystem, context: MeasureContext): Promise<Findings> {
  const light = await sampleGaps(system, { ...context, runs: 2 });
  const many = await sampleGaps(system, { ...context, runs: context.scale.clients });
  return {
    'light p50': percentile(light.gaps, 50),
    'light p99': percentile(light.gaps, 99),
    'many p50': percentile(many.gaps, 50),
    'many p99': percentile(many.gaps, 99),
    'many run p50': percentile(many.runs, 50),
  };
}

/** In milliseconds: the gaps between turns, and the durations of whole runs from submission to end. */
interface GapSample {
  readonly gaps: readonly number[];
  readonly runs: readonly number[];
}

async function sampleGaps(
  system: MeasuredSystem,
  { model, scale, runs }: MeasureContext & { runs: number },
): Promise<GapSample> {
  const took: number[] = [];
  const clients = new Clients(runs, async () => {
    const { submittedMs } = await system.runTask({ plan: { ...ordinary, delayMs: 20 } });
    took.push(nowMs() - submittedMs);
  });
  await sleep(scale.seconds * 250);
  await model.ask('report');
  took.length = 0;
  const exchanges: Exchange[] = [];
  do {
    await sleep(scale.seconds * 1000);
    exchanges.push(...(await model.ask('report')).exchanges);
  } while (gapsMs(exchanges).length === 0 || took.length === 0);
  const seen = { gaps: gapsMs(exchanges), runs: [...took] };
  await clients.stop();
  return seen;
}

export const gap: Comparison = { name: 'gap', figures, measure };
