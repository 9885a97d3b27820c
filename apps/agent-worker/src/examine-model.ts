import { text } from 'node:stream/consumers';
import { readProviders, splitModelName, whyNotConfigured } from '@rondo/domain';
import { declareProvider, examineModel, tryModel } from '@rondo/llm';
import { modelRetryVariables, proxyVariables, readModelConnection, toMessage } from '@rondo/platform';
import { z } from 'zod';

/** `for`: `word` asks for one word, `examination` finds out what the server does. */
const asked = z.object({
  variables: z.record(z.string(), z.string()),
  model: z.string(),
  for: z.enum(['word', 'examination']),
});

const connection = z.object({ ...modelRetryVariables, ...proxyVariables });

const print = (line: object): Promise<void> =>
  new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, () => resolve()));

async function answer({ variables, model, for: wanted }: z.infer<typeof asked>): Promise<object> {
  const known = readProviders(variables);
  const provider = known.providers.find(({ name }) => name === splitModelName(model).provider);
  const reason = whyNotConfigured(model, known);
  if (reason !== undefined || !provider) return { reason: reason ?? `${model} cannot be used.` };
  const { proxies } = readModelConnection(connection.parse(variables));
  const examined = { provider, model, proxies, signal: new AbortController().signal };
  if (wanted === 'word') return { reason: await tryModel(examined) };
  const onProgress = (about: string, call: number) => void print({ about, call });
  const examination = await examineModel({ ...examined, onProgress });
  const declaration = declareProvider(examination, { provider, model, before: variables['MODEL_PROVIDERS'] });
  return { examination, declaration };
}

/**
 * Asks a model as the service does, for the command line. What is asked comes as JSON over standard input, with the variables that the
 * service would be started with; JSON lines leave: the progress, and at last `reason` (why it cannot be asked) or the `examination`.
 */
async function main(): Promise<void> {
  const given = asked.parse(JSON.parse(await text(process.stdin)));
  const last = await answer(given).catch((error: unknown) => ({
    reason: toMessage(error),
  }));
  await print({ ...last, isLast: true });
  process.exit(0); // connections are kept for a while
}

void main();
