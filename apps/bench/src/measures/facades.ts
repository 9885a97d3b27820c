import { setTimeout as sleep } from 'node:timers/promises';
import { Clients } from '../clients';
import { nowMs, readSentMs } from '../clock';
import { type Endpoint, type Question, openEndpoints } from '../facade-clients';
import { type Plan, ordinary } from '../model/plan';
import type { RondoSystem } from '../rondo-system';
import { percentile } from '../statistics';
import type { Findings, Trial, TrialContext } from './measure';

const names = ['anthropic', 'ai-sdk', 'responses', 'chat', 'langgraph', 'ag-ui', 'a2a', 'mcp'] as const;

const figures: Trial['figures'] = [
  ...names.map((key) => ({
    ...{ key, title: `first token through ${key}, over that of /v1, p50`, unit: '×' },
    ...({ bounds: 'value', better: 'less', must: 1.15 } as const),
  })),
  { key: 'whole', title: 'concurrent streams that were whole', unit: '%', bounds: 'value', better: 'more', must: 100 },
  {
    key: 'transit p50',
    title: 'concurrent streams, model to client, p50',
    unit: 'ms',
    bounds: 'value',
    better: 'less',
  },
  {
    key: 'transit p99',
    title: 'concurrent streams, model to client, p99',
    unit: 'ms',
    bounds: 'value',
    better: 'less',
  },
];

/** Before each first token, so that none finds work that the run before it has left. */
const restMs = 50;

const answersAtOnce: Plan = { ...ordinary, toolTurns: 0, tokens: 8, delayMs: 20 };

/** First tokens one after the other, through each endpoint in turn, and then many answers at the same time. */
async function run(rondo: RondoSystem, context: TrialContext): Promise<Findings> {
  const endpoints = openEndpoints(rondo);
  await warmUp(Object.values(endpoints), context);
  const first = await timeFirstTokens(endpoints, context);
  const v1 = first['v1'] ?? NaN;
  return {
    ...Object.fromEntries(names.map((name) => [name, (first[name] ?? NaN) / v1])),
    ...(await stream(
      names.filter((name) => name !== 'mcp').flatMap((name) => endpoints[name] ?? []),
      context,
    )),
    'first token of /v1, p50, ms': v1,
    'the same by a socket that creates and subscribes, ms': first['socket'] ?? NaN,
  };
}

async function warmUp(endpoints: readonly Endpoint[], { scale }: TrialContext): Promise<void> {
  const clients = new Clients(scale.clients, (client) => ask(take(endpoints, client), answersAtOnce));
  await sleep(scale.warmUpSeconds * 1_000);
  await clients.stop();
}

function take(endpoints: readonly Endpoint[], index: number): Endpoint {
  const endpoint = endpoints[index % endpoints.length];
  if (!endpoint) throw new Error('there are no façades');
  return endpoint;
}

interface Token {
  readonly sentMs: number;
  readonly arrivedMs: number;
}

interface Answer {
  readonly submittedMs: number;
  readonly tokens: readonly Token[];
}

/** Each token counts once: some protocols say the whole answer again when it is over. */
async function ask(endpoint: Endpoint, plan: Plan): Promise<Answer> {
  const tokens = new Map<number, Token>();
  let rest = '';
  const onText: Question['onText'] = (text) => {
    const arrivedMs = nowMs();
    const read = rest + text;
    rest = /@[\d.]*$/.exec(read)?.[0] ?? '';
    for (const sent of readSentMs(read)) if (!tokens.has(sent)) tokens.set(sent, { sentMs: sent, arrivedMs });
  };
  const submittedMs = await endpoint({ plan, onText });
  return { submittedMs, tokens: [...tokens.values()] };
}

/** Of each endpoint the median, from the submission to the first token at the client, without the time that the model took. */
async function timeFirstTokens(
  endpoints: Readonly<Record<string, Endpoint>>,
  { model, scale }: TrialContext,
): Promise<Readonly<Record<string, number>>> {
  const times = new Map(Object.keys(endpoints).map((name) => [name, [] as number[]]));
  await model.ask('report');
  for (let round = 0; round < scale.firstTokens; round++) {
    const order = Object.entries(endpoints);
    for (const [name, endpoint] of round % 2 === 0 ? order : order.toReversed()) {
      await sleep(restMs);
      const { submittedMs, tokens } = await ask(endpoint, answersAtOnce);
      const { exchanges } = await model.ask('report');
      const [[exchange], [token]] = [exchanges, tokens];
      if (!exchange || !token) throw new Error(`a run through ${name} had no answer`);
      times.get(name)?.push(exchange.arrivedMs - submittedMs + (token.arrivedMs - token.sentMs));
    }
  }
  return Object.fromEntries([...times].map(([name, found]) => [name, percentile(found, 50)]));
}

/** At ten tokens a second, as many streams at one gateway as the scale says, over all façades. */
async function stream(endpoints: readonly Endpoint[], { scale }: TrialContext): Promise<Findings> {
  const paceMs = 100;
  const plan = { ...ordinary, toolTurns: 0, tokens: Math.ceil((scale.seconds * 2_500) / paceMs), paceMs };
  const answers = await Promise.all(
    Array.from({ length: scale.facadeStreams }, async (_, index) => {
      await sleep((index * 7) % 1_000); // so that the streams are not in step
      return ask(take(endpoints, index), plan);
    }),
  );
  const transits = answers.flatMap(({ tokens }) => tokens.map((token) => token.arrivedMs - token.sentMs));
  const whole = answers.filter(({ tokens }) => tokens.length === plan.tokens);
  return {
    whole: (whole.length / answers.length) * 100,
    'transit p50': percentile(transits, 50),
    'transit p99': percentile(transits, 99),
  };
}

export const facades: Trial = { name: 'facades', figures, needs: {}, run };
