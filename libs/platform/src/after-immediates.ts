/**
 * Resolves after the promise callbacks and the immediates that are already due, and those that they start. Background
 * work that awaits this first lets the output that a client waits for leave.
 */
export const afterImmediates = (): Promise<void> =>
  new Promise((resolve) => process.nextTick(() => setImmediate(resolve)));
