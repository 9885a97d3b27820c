/** Milliseconds of a clock that all processes of this machine share and that never jumps (CLOCK_MONOTONIC). */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** A token that contains the time at which it was sent. */
export const stamp = (): string => `@${nowMs().toFixed(2)} `;

/** The times at which the stamped tokens in this text were sent; an incomplete token is skipped. */
export const readSentMs = (text: string): number[] =>
  [...text.matchAll(/@(\d+\.\d\d) /g)].map(([, time]) => Number(time));
