import { nowMs } from '../clock';
import type { Contender } from '../contender';
import { type Plan, ordinary } from '../model/plan';
import { sentMs } from '../model/stamps';
import { percentile } from '../statistics';
import type { Comparison, Findings, Surroundings } from './measure';

const figures: Comparison['figures'] = [
  {
    key: 'p50',
    title: 'first token beyond the model’s, p50',
    unit: 'ms',
    bounds: 'ratio',
    better: 'less',
    must: 3,
    goal: 2,
  },
  { key: 'p99', title: 'first token beyond the model’s, p99', unit: 'ms', bounds: 'ratio', better: 'less' },
];

const answersAtOnce: Plan = { ...ordinary, toolTurns: 0, tokens: 8, delayMs: 20 };

/** From submitting a task to its first token on the screen, without the time that the model took for it. */
async function slice(contender: Contender, { model, scale }: Surroundings): Promise<Findings> {
  const beyondMs: number[] = [];
  await model.ask('report');
  for (let task = 0; task < scale.firstTokens; task++) {
    let shown: { text: string; atMs: number } | undefined;
    const onText = (text: string) => (shown ??= { text, atMs: nowMs() });
    const { submittedMs } = await contender.perform({ plan: answersAtOnce, onText });
    const { exchanges } = await model.ask('report');
    const [exchange] = exchanges;
    const [said] = shown ? sentMs(shown.text) : [];
    if (!exchange || !shown || said === undefined) throw new Error('a task had no answer');
    beyondMs.push(exchange.arrivedMs - submittedMs + (shown.atMs - said));
  }
  return { p50: percentile(beyondMs, 50), p99: percentile(beyondMs, 99) };
}

export const firstToken: Comparison = { name: 'first-token', figures, slice };
