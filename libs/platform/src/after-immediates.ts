/**
 * Resolves when everything that follows at once from where it is called has been done, and after the immediates that
 * this asks for: what somebody waits for leaves before what comes after this.
 */
export const afterImmediates = (): Promise<void> =>
  new Promise((resolve) => process.nextTick(() => setImmediate(resolve)));
