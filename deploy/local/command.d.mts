import type { Progress } from './progress.mjs';

interface Stoppable {
  stop(): Promise<void>;
}

/** Runs a command that owns what it starts: however it ends, everything owned is stopped, the latest first. */
export function runCommand(
  work: (command: { owns: <Thing extends Stoppable>(thing: Thing) => Thing }) => Promise<number | undefined>,
  options: { log: Progress; codeWhenInterrupted: number },
): Promise<never>;
