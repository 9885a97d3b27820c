/** What the exit code of every command means. */
export const exitCodes = {
  ok: { code: 0, meaning: 'done; of a run: it did what it was asked' },
  failed: { code: 1, meaning: 'the run failed, the gateway refused, or what was checked is not in order' },
  usage: { code: 2, meaning: 'the command line is wrong' },
  stopped: { code: 3, meaning: 'the run was stopped' },
  waiting: { code: 4, meaning: 'the run waits for a person, and there is no terminal to ask at' },
  unreachable: { code: 5, meaning: 'the gateway cannot be reached' },
  unfinished: {
    code: 6,
    meaning: 'the run ended before it was done: out of budget, out of iterations, cut off or in a loop',
  },
  interrupted: { code: 130, meaning: 'interrupted; a run goes on without the command' },
} as const;

export type Ending = keyof typeof exitCodes;
