/** Milliseconds of a clock that all processes of this machine share and that never jumps (CLOCK_MONOTONIC). */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
