/** How far a piece of work has come that is done for many things. */
export interface Progress {
  readonly done: number;
  readonly of: number;
  /** What could not be done, and why. */
  readonly failed: readonly { readonly id: string; readonly problem: unknown }[];
}

const atOnce = 4;

/**
 * Does the work for each id, a few at a time, and reports after each of them. A failure ends only its own work. Once the signal
 * is aborted, nothing new begins. Never rejects.
 */
export async function workThrough(
  ids: readonly string[],
  work: (id: string) => Promise<unknown>,
  { onProgress, signal }: { readonly onProgress: (progress: Progress) => void; readonly signal?: AbortSignal },
): Promise<Progress> {
  const left = [...ids];
  let progress: Progress = { done: 0, of: ids.length, failed: [] };
  const report = (change: Partial<Progress>) => onProgress((progress = { ...progress, ...change }));
  const workOn = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined && signal?.aborted !== true; id = left.shift()) {
      try {
        await work(id);
        report({ done: progress.done + 1 });
      } catch (problem) {
        report({ failed: [...progress.failed, { id, problem }] });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, workOn));
  return progress;
}
