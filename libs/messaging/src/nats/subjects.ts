/** Every name on the wire. */
export type WireNames = ReturnType<typeof wireNames>;

/**
 * A namespace goes before every name, so that two installations (or two specs) can share a server. It is letters,
 * digits and underscores; production has none. Executor ids, like all ids, are letters, digits, `_` and `-`.
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
      one: (executorId: string, { runId, callId }: CallKey) => `${subject}tool.call.${executorId}.${runId}.${callId}`,
    },
    /** Who took a call first. */
    toolTakers: {
      stream: `${stream}TOOL_TAKERS`,
      all: `${subject}tool.taken.>`,
      one: ({ runId, callId }: CallKey) => `${subject}tool.taken.${runId}.${callId}`,
    },
    /** What came of a call: the last word on it. */
    toolResults: {
      stream: `${stream}TOOL_RESULTS`,
      all: `${subject}tool.result.>`,
      one: ({ runId, callId }: CallKey) => `${subject}tool.result.${runId}.${callId}`,
    },
    /** What a running command prints. */
    toolOutput: ({ runId, callId }: CallKey) => `${subject}tool.output.${runId}.${callId}`,
    /** Everything that executors say about a run's calls. */
    toolNews: (runId: string) => `${subject}tool.*.${runId}.>`,
    /** Tells an executor to end a call. */
    toolCancel: (executorId: string) => `${subject}tool.cancel.${executorId}`,
  };
}

export interface CallKey {
  readonly runId: string;
  readonly callId: string;
}

/** The last part of a subject: the call, in subjects about calls. */
export const lastTokenOf = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);
