import { nowMs, readSentMs } from '../clock';
import type { MeasuredSystem, Task } from '../measured-system';
import { type Plan, ordinary } from '../model/plan';
import { percentile } from '../statistics';
import type { Comparison, Findings, MeasureContext } from './measure';

const less = { unit: 'ms', bounds: 'ratio', better: 'less' } as const;

const figures: Comparison['figures'] = [
  { key: 'token p50', title: 'first token beyond the model’s, p50', ...less, must: 3, goal: 2.5 },
  { key: 'token p95', title: 'first token beyond the model’s, p95', ...less },
  { key: 'request p50', title: 'POST to the request at the model, p50', ...less },
  { key: 'request p95', title: 'POST to the request at the model, p95', ...less },
  { key: 'in two steps p50', title: 'first token of a run that is posted, then subscribed to, p50', ...less },
  { key: 'in two steps p95', title: 'first token of a run that is posted, then subscribed to, p95', ...less },
];

const answersAtOnce: Plan = { ...ordinary, toolTurns: 0, tokens: 8, delayMs: 20 };

/** In milliseconds, without the time that the model took. */
interface Start {
  /** From submitting the task to the request at the model. */
  readonly request: number;
  /** From submitting the task to its first token at the client. */
  readonly token: number;
}

/** Runs one after the other, from a Socket.IO message that creates and subscribes, and from a POST. */
async function measure(system: MeasuredSystem, { model, scale }: MeasureContext): Promise<Findings> {
  const start = async (how: Pick<Task, 'inTwoSteps'>): Promise<Start> => {
    let shown: { text: string; atMs: number } | undefined;
    const onText = (text: string) => (shown ??= { text, atMs: nowMs() });
    const { submittedMs } = await system.runTask({ plan: answersAtOnce, onText, ...how });
    const { exchanges } = await model.ask('report');
    const [exchange] = exchanges;
    const [said] = shown ? readSentMs(shown.text) : [];
    if (!exchange || !shown || said === undefined) throw new Error('a task had no answer');
    const request = exchange.arrivedMs - submittedMs;
    return { request, token: request + (shown.atMs - said) };
  };
  const inOneStep: Start[] = [];
  const inTwoSteps: Start[] = [];
  await model.ask('report');
  for (let task = 0; task < scale.firstTokens; task++) {
    inOneStep.push(await start({}));
    inTwoSteps.push(await start({ inTwoSteps: true }));
  }
  const [tokens, later] = [inOneStep, inTwoSteps].map((starts) => starts.map(({ token }) => token));
  const requests = inTwoSteps.map(({ request }) => request);
  return {
    'token p50': percentile(tokens ?? [], 50),
    'token p95': percentile(tokens ?? [], 95),
    'request p50': percentile(requests, 50),
    'request p95': percentile(requests, 95),
    'in two steps p50': percentile(later ?? [], 50),
    'in two steps p95': percentile(later ?? [], 95),
  };
}

export const start: Comparison = { name: 'start', figures, measure };
