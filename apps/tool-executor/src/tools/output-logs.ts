import { resultCharacters } from '../clip-text';
import { type CommandOutcome, SandboxError, type SandboxFiles } from '../sandboxes';
import type { ToolContext } from './tool-handler';

const folder = '.rondo/outputs';
const mostLogs = 20;

/**
 * Where the model can read on when a command printed more than a result shows: running it again to see the rest would
 * have its effects again. A result is worth having without a log, so a workspace that takes none gets none.
 */
export async function logOfLongOutput(outcome: CommandOutcome, bench: ToolContext): Promise<string | undefined> {
  if (outcome.output.length <= resultCharacters || outcome.ending === 'sandbox-lost') return undefined;
  const { files } = bench.sandbox;
  const path = `${folder}/${bench.idempotencyKey}.log`;
  try {
    await files.write(`${folder}/.gitignore`, '*\n', { mode: 'put' }); // they are no work of the agent's
    await files.write(path, outcome.output, { mode: 'put' });
    await removeOldest(files);
    return path;
  } catch (error) {
    if (error instanceof SandboxError) return undefined;
    throw error;
  }
}

/** Ids of calls grow with time. Another call may be removing the same one. */
async function removeOldest(files: SandboxFiles): Promise<void> {
  const { entries } = await files.list(folder);
  const logs = entries.map(({ path }) => path).filter((path) => path.endsWith('.log'));
  const oldest = logs.sort().slice(0, -mostLogs);
  await Promise.allSettled(oldest.map((path) => files.delete(`${folder}/${path}`)));
}
