const everythingButDate = [
  ...(['hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];

/** Sets the clock of this process ahead by so much, until `jest.useRealTimers`. Timers go on. */
export function setClockAhead(ms: number): void {
  jest.useFakeTimers({ now: Date.now() + ms, doNotFake: [...everythingButDate] });
}
