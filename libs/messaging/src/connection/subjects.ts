/** Every name on the wire but those of `signals`. */
export type WireNames = ReturnType<typeof wireNames>;

/**
 * A namespace goes before each of these names, so that specs can share a server. It is letters, digits and underscores;
 * production has none. An installation needs a NATS server of its own: `signals`, which Nest carries, have no namespace,
 * no more than the queues in Redis have. Executor ids, like all ids, are letters, digits, `_` and `-`.
 */
export function wireNames(namespace = '') {
  const subject = namespace === '' ? '' : `${namespace}.`;
  const stream = namespace === '' ? '' : `${namespace}_`;
  return {
    /** Facts and deltas of a run, from whoever made them to whoever watches. Core NATS: what is missed is in Postgres. */
    runEvents: (runId: string) => `${subject}run.${runId}.events`,

    /** Work queue of the calls that executors have not answered yet. */
    toolCalls: {
      stream: `${stream}TOOL_CALLS`,
      all: `${subject}tool.call.>`,
      of: (executorId: string) => `${subject}tool.call.${executorId}.>`,
      one: (executorId: string, key: CallKey) => `${subject}tool.call.${executorId}.${placeOf(key)}`,
    },
    /** Pure calls, past the queue. Core NATS: one that is lost is missed, and goes through the queue. */
    toolAsk: (executorId: string) => `${subject}tool.ask.${executorId}`,
    /**
     * Who took an attempt of a call first. What an executor says stands below its own id, here and in all that follows: so
     * the server can forbid it to speak for another.
     */
    toolTakers: {
      stream: `${stream}TOOL_TAKERS`,
      all: `${subject}tool.taken.>`,
      of: (executorId: string) => `${subject}tool.taken.${executorId}.>`,
      one: (executorId: string, key: CallKey) => `${subject}tool.taken.${executorId}.${placeOf(key)}`,
    },
    /** What came of an attempt: the last word on it. */
    toolResults: {
      stream: `${stream}TOOL_RESULTS`,
      all: `${subject}tool.result.>`,
      of: (executorId: string) => `${subject}tool.result.${executorId}.>`,
      one: (executorId: string, key: CallKey) => `${subject}tool.result.${executorId}.${placeOf(key)}`,
    },
    /**
     * What running commands print and what comes of calls, as it happens. One subject for all calls of a run: a subscription
     * with a wildcard, made and ended for every run, is what costs the server most.
     */
    toolNews: (executorId: string, runId: string) => `${subject}tool.news.${executorId}.${runId}`,
    /** Tells an executor to end a call. */
    toolCancel: (executorId: string) => `${subject}tool.cancel.${executorId}`,
    /** Every executor says here whether it takes threads in; `*` is all of them. */
    executorOpen: (executorId: string) => `${subject}executor.open.${executorId}`,
    /** Asks an executor to end what a run has left running in the thread's sandbox. */
    sandboxEnd: (executorId: string) => `${subject}sandbox.end.${executorId}`,
    /** Asks an executor to remove the sandbox of a thread that was deleted, with its files. */
    sandboxForget: (executorId: string) => `${subject}sandbox.forget.${executorId}`,
  };
}

/** One sending of a call. What is said of an earlier one is never taken for what is said of a later one. */
export interface CallKey {
  readonly runId: string;
  readonly callId: string;
  readonly attempt: number;
}

const placeOf = ({ runId, callId, attempt }: CallKey): string => `${runId}.${callId}.${attempt}`;
