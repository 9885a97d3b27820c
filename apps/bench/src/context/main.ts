import { RunningRondo } from '@rondo/test-deployment';
import { runCommand } from '../../../../deploy/local/command.mjs';
import { terminal as log } from '../../../../deploy/local/progress.mjs';
import { contextFigures } from './context-figures';

/** A run that needs many times the tokens its model accepts; the provider refuses a request that is one token too long. */
const budgetTokens = 30_000;
const loop = `loop:turns=300,output_bytes=2048,context_limit=${budgetTokens}`;
const timeoutMs = 1_800_000;

/** The smallest acceptable share of cached input tokens between compactions. */
const leastCached = 0.8;

async function longRun(rondo: RunningRondo, provider: string) {
  const client = rondo.client();
  const { id } = await client.createRun({
    model: `${provider}/${loop}`,
    input: 'Go on until you are done.',
    context: { input_budget_tokens: budgetTokens, summary_model: `${provider}/summary` },
    limits: { max_iterations: 400 },
  });
  const { status } = await client.waitForRun(id, timeoutMs);
  return { status, ...contextFigures(await client.facts(id)) };
}

type Figures = Awaited<ReturnType<typeof longRun>>;

const holds = ({ status, overflows, cachedShareBetweenCompactions }: Figures): boolean =>
  status === 'completed' && overflows === 0 && cachedShareBetweenCompactions >= leastCached;

function describe({ cachedShare, cachedShareBetweenCompactions, ...counts }: Figures): string {
  const lines = Object.entries(counts).map(([name, count]) => `  ${name}: ${count}`);
  const shares = `  cached input: ${percent(cachedShare)}, between compactions ${percent(cachedShareBetweenCompactions)}`;
  return [...lines, shares].join('\n');
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

void runCommand(
  async ({ owns }) => {
    const rondo = owns(
      await RunningRondo.start({
        instances: ['demo-model', 'tool-executor', 'agent-worker', 'summarizer', 'gateway'],
        leases: 'production',
      }),
    );
    log.note(`300 iterations with results of 2 KB on ${budgetTokens} tokens, through the services`);
    let isGood = true;
    for (const provider of ['demo', 'demo-anthropic']) {
      const since = performance.now();
      const figures = await longRun(rondo, provider);
      log.done({ name: provider, ms: performance.now() - since });
      log.note(describe(figures));
      isGood &&= holds(figures);
    }
    const { length: violations } = await rondo.violations();
    log.note(`protocol violations: ${violations}`);
    return isGood && violations === 0 ? 0 : 1;
  },
  { log, codeWhenInterrupted: 130 },
);
