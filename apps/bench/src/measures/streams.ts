import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs, readSentMs } from '../clock';
import type { MeasuredSystem } from '../measured-system';
import { Clients } from '../clients';
import { ordinary } from '../model/plan';
import { percentile } from '../statistics';
import { computeSum } from '../machine/process-usage';
import type { Comparison, Findings, MeasureContext } from './measure';

const ratio = { bounds: 'ratio', better: 'less' } as const;

const figures: Comparison['figures'] = [
  {
    key: 'burst',
    title: 'burst, tokens per second at the client',
    unit: '/s',
    bounds: 'ratio',
    better: 'more',
    must: 1.5,
    goal: 3,
  },
  { key: 'burst cpu', title: 'burst, CPU per million tokens', unit: 's', ...ratio },
  { key: 'paced cpu', title: 'paced (40 × 50/s), CPU per million tokens', unit: 's', ...ratio, must: 2, goal: 1.5 },
  { key: 'transit p50', title: 'paced, model to client, p50', unit: 'ms', ...ratio },
  { key: 'transit p99', title: 'paced, model to client, p99', unit: 'ms', ...ratio },
];

async function measure(system: MeasuredSystem, context: MeasureContext): Promise<Findings> {
  return { ...(await burst(system, context)), ...(await measurePaced(system, context)) };
}

/** Long answers, one after the other, which the model sends as fast as they are read. */
async function burst(system: MeasuredSystem, { scale }: MeasureContext): Promise<Findings> {
  const plan = { ...ordinary, toolTurns: 0, tokens: scale.burstTokens };
  const before = computeSum(system.cpuMs());
  let streamingMs = 0;
  for (let answer = 0; answer < scale.bursts; answer++) {
    let firstMs: number | undefined;
    await system.runTask({ plan, onText: () => (firstMs ??= nowMs()) });
    streamingMs += nowMs() - (firstMs ?? NaN);
  }
  const tokens = plan.tokens * scale.bursts;
  return {
    burst: tokens / (streamingMs / 1000),
    'burst cpu': secondsPerMillion(computeSum(system.cpuMs()) - before, tokens),
  };
}

/** Many answers at the usual speed of models, one token at a time. */
async function measurePaced(system: MeasuredSystem, { scale }: MeasureContext): Promise<Findings> {
  const paceMs = 20;
  const tokens = Math.round((scale.seconds * 1000) / paceMs);
  const transitMs: number[] = [];
  const onText = (text: string) => {
    const arrivedMs = nowMs();
    for (const sent of readSentMs(text)) transitMs.push(arrivedMs - sent);
  };
  const plan = { ...ordinary, toolTurns: 0, tokens, paceMs };
  const clients = new Clients(scale.pacedStreams, async (stream) => {
    await sleep(stream % paceMs); // so that the streams are not in step
    await system.runTask({ plan, onText });
  });
  await sleep(scale.seconds * 250);
  transitMs.length = 0;
  const before = computeSum(system.cpuMs());
  do await sleep(scale.seconds * 1000);
  while (transitMs.length === 0);
  const spentMs = computeSum(system.cpuMs()) - before;
  const transits = [...transitMs];
  await clients.stop();
  return {
    'paced cpu': secondsPerMillion(spentMs, transits.length),
    'transit p50': percentile(transits, 50),
    'transit p99': percentile(transits, 99),
  };
}

const secondsPerMillion = (ms: number, tokens: number): number => (ms / tokens) * 1000;

export const streams: Comparison = { name: 'streams', figures, measure };
