import type { Terminal } from '../terminal';

/**
 * What the work returns; undefined after Ctrl-C, which only stops waiting: runs go on, and their results are found by the same command.
 * A second Ctrl-C ends the process at once.
 */
export async function untilInterrupted<Result>(
  terminal: Terminal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const left = new AbortController();
  const interrupt = () => left.abort();
  process.once('SIGINT', interrupt);
  try {
    return await work(left.signal);
  } catch (error) {
    if (!left.signal.aborted) throw error;
    terminal.note('Interrupted. The runs that were started go on; the same command goes on with them.', 'yellow');
    return undefined;
  } finally {
    process.off('SIGINT', interrupt);
  }
}
