import { nowMs } from '../clock';
import type { MeasuredSystem, Task } from '../measured-system';
import { type Plan, ordinary } from '../model/plan';
import { sentMs } from '../model/stamps';
import { percentile } from '../statistics';
import type { Comparison, Findings, MeasureContext } from './measure';

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
  {
    key: 'in two steps p50',
    title: 'the same, posted over HTTP and then subscribed to, p50',
    unit: 'ms',
    bounds: 'ratio',
    better: 'less',
  },
];

const answersAtOnce: Plan = { ...ordinary, toolTurns: 0, tokens: 8, delayMs: 20 };

/** From submitting a task to its first token at the client, without the time that the model took. */
async function measure(system: MeasuredSystem, { model, scale }: MeasureContext): Promise<Findings> {
  const beyondMs = async (how: Pick<Task, 'inTwoSteps'>): Promise<number> => {
    let shown: { text: string; atMs: number } | undefined;
    const onText = (text: string) => (shown ??= { text, atMs: nowMs() });
    const { submittedMs } = await system.runTask({ plan: answersAtOnce, onText, ...how });
    const { exchanges } = await model.ask('report');
    const [exchange] = exchanges;
    const [said] = shown ? sentMs(shown.text) : [];
    if (!exchange || !shown || said === undefined) throw new Error('a task had no answer');
    return exchange.arrivedMs - submittedMs + (shown.atMs - said);
  };
  const inOneStep: number[] = [];
  const inTwoSteps: number[] = [];
  await model.ask('report');
  for (let task = 0; task < scale.firstTokens; task++) {
    inOneStep.push(await beyondMs({}));
    inTwoSteps.push(await beyondMs({ inTwoSteps: true }));
  }
  return {
    p50: percentile(inOneStep, 50),
    p99: percentile(inOneStep, 99),
    'in two steps p50': percentile(inTwoSteps, 50),
  };
}

export const firstToken: Comparison = { name: 'first-token', figures, measure };
