import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../clock';
import type { Contender } from '../contender';
import { Crowd } from '../crowd';
import { ordinary } from '../model/plan';
import { sentMs } from '../model/stamps';
import { percentile } from '../statistics';
import { sumOf } from './cpu-spent';
import type { Comparison, Findings, Surroundings } from './measure';

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

async function slice(contender: Contender, surroundings: Surroundings): Promise<Findings> {
  return { ...(await burst(contender, surroundings)), ...(await paced(contender, surroundings)) };
}

/** Long answers, one after the other, that the model says as fast as they are taken. */
async function burst(contender: Contender, { scale }: Surroundings): Promise<Findings> {
  const plan = { ...ordinary, toolTurns: 0, tokens: scale.burstTokens };
  const before = sumOf(contender.cpuMs());
  let spokenMs = 0;
  for (let answer = 0; answer < scale.bursts; answer++) {
    let firstMs: number | undefined;
    await contender.perform({ plan, onText: () => (firstMs ??= nowMs()) });
    spokenMs += nowMs() - (firstMs ?? NaN);
  }
  const tokens = plan.tokens * scale.bursts;
  return {
    burst: tokens / (spokenMs / 1000),
    'burst cpu': secondsPerMillion(sumOf(contender.cpuMs()) - before, tokens),
  };
}

/** Many answers at the pace at which models speak, a token at a time. */
async function paced(contender: Contender, { scale }: Surroundings): Promise<Findings> {
  const paceMs = 20;
  const tokens = Math.round((scale.seconds * 1000) / paceMs);
  const transitMs: number[] = [];
  const onText = (text: string) => {
    const heardMs = nowMs();
    for (const sent of sentMs(text)) transitMs.push(heardMs - sent);
  };
  const plan = { ...ordinary, toolTurns: 0, tokens, paceMs };
  const crowd = new Crowd(scale.pacedStreams, async (stream) => {
    await sleep(stream % paceMs); // people do not start at the same moment
    await contender.perform({ plan, onText });
  });
  await sleep(scale.seconds * 250);
  transitMs.length = 0;
  const before = sumOf(contender.cpuMs());
  do await sleep(scale.seconds * 1000);
  while (transitMs.length === 0);
  const spentMs = sumOf(contender.cpuMs()) - before;
  const transits = [...transitMs];
  await crowd.leave();
  return {
    'paced cpu': secondsPerMillion(spentMs, transits.length),
    'transit p50': percentile(transits, 50),
    'transit p99': percentile(transits, 99),
  };
}

const secondsPerMillion = (ms: number, tokens: number): number => (ms / tokens) * 1000;

export const tokens: Comparison = { name: 'tokens', figures, slice };
