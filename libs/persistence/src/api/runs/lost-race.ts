/** Another run took the thread after it was found free. */
export class ThreadTaken extends Error {}

/** The partial unique index decides races. The loser tries again, and then finds the run of the winner. */
export async function retryLostRace<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ThreadTaken)) throw error;
    }
  }
}
