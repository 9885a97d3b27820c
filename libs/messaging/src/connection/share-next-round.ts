/**
 * A task that is done again for each who asks: all who ask while it is under way share the next round, which begins after it has
 * ended. So what they get was found after they asked, and however many ask, one round runs and one waits.
 */
export function shareNextRound<T>(task: () => Promise<T>): () => Promise<T> {
  let lastRound: Promise<unknown> = Promise.resolve();
  let nextRound: Promise<T> | undefined;
  return () => {
    if (nextRound) return nextRound;
    const round = lastRound.then(() => {
      nextRound = undefined;
      return task();
    });
    lastRound = round.catch(() => undefined); // those who share the round are told
    nextRound = round;
    return round;
  };
}
