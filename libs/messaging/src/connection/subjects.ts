/** Every subject and stream name, except those of `signals`. */
export type WireNames = ReturnType<typeof wireNames>;

/**
 * A namespace (letters, digits and underscores) precedes each name, so that specs can share a server; production has none.
 * Each deployment needs a NATS server of its own: `signals`, which Nest carries, have no namespace, and neither have the
 * queues in Redis. Executor ids, like all ids, are letters, digits, `_` and `-`.
 */
export function wireNames(namespace = '') {
  const subject = namespace === '' ? '' : `${namespace}.`;
  const stream = namespace === '' ? '' : `${namespace}_`;
  return {
    /** Facts and deltas of a run, from the process that wrote them to gateways. Core NATS: missed facts are in Postgres. */
    runEvents: (runId: string) => `${subject}run.${runId}.events`,
    /** Empty messages: a run of the thread has begun. Core NATS: gateways also look in Postgres. */
    threadRuns: (threadId: string) => `${subject}thread.${threadId}.runs`,

    /** Work queue of calls that executors have not answered yet. */
    toolCalls: {
      stream: `${stream}TOOL_CALLS`,
      all: `${subject}tool.call.>`,
      of: (executorId: string) => `${subject}tool.call.${executorId}.>`,
      ofRun: (runId: string) => `${subject}tool.call.*.${runId}.>`,
      one: (executorId: string, key: CallKey) => `${subject}tool.call.${executorId}.${toTokens(key)}`,
    },
    /** Pure calls, past the queue. Core NATS: the worker notices a lost one and sends it through the queue. */
    toolAsk: (executorId: string) => `${subject}tool.ask.${executorId}`,
    /**
     * The first claim of each attempt of a call. Everything that an executor publishes is below its own id, here and in the
     * names that follow, so that the server can forbid one executor to publish for another.
     */
    toolTakers: {
      stream: `${stream}TOOL_TAKERS`,
      all: `${subject}tool.taken.>`,
      of: (executorId: string) => `${subject}tool.taken.${executorId}.>`,
      ofRun: (runId: string) => `${subject}tool.taken.*.${runId}.>`,
      one: (executorId: string, key: CallKey) => `${subject}tool.taken.${executorId}.${toTokens(key)}`,
    },
    /** The final reply of each attempt. */
    toolResults: {
      stream: `${stream}TOOL_RESULTS`,
      all: `${subject}tool.result.>`,
      of: (executorId: string) => `${subject}tool.result.${executorId}.>`,
      one: (executorId: string, key: CallKey) => `${subject}tool.result.${executorId}.${toTokens(key)}`,
    },
    /**
     * Output of running commands and replies of calls, as they happen. One subject for all calls of a run: a wildcard
     * subscription, created and removed for each run, costs the server much more.
     */
    toolNews: (executorId: string, runId: string) => `${subject}tool.news.${executorId}.${runId}`,
    /** Cancels a call. */
    toolCancel: (executorId: string) => `${subject}tool.cancel.${executorId}`,
    /** Each executor announces here whether it accepts threads; `*` stands for all executors. */
    executorOpen: (executorId: string) => `${subject}executor.open.${executorId}`,
    /** Each worker and summarizer says here every second that it lives. */
    signOfLife: `${subject}holder.alive`,
    /** Empty messages: work will be written. Processes that rest look for it again. */
    workAhead: `${subject}work.ahead`,
    /** Request to an executor to end what a run has left running in the thread's sandbox. */
    sandboxEnd: (executorId: string) => `${subject}sandbox.end.${executorId}`,
    /** Request to an executor to remove the sandbox of a deleted thread, with its files. */
    sandboxForget: (executorId: string) => `${subject}sandbox.forget.${executorId}`,
    /** Request to an executor to host the workspace of a thread whose executor is lost. */
    sandboxAdopt: (executorId: string) => `${subject}sandbox.adopt.${executorId}`,
    /** Request of an executor to any worker: which of these threads does it not host any more? */
    sandboxThreads: (executorId: string) => `${subject}sandbox.threads.${executorId}`,
    /** Request of an executor to any worker: what may be done with a secret, and its sealed value for one request. */
    secretAsk: (executorId: string) => `${subject}secret.ask.${executorId}`,
    /** Request of an executor to any worker: the files of a skill that a run names. */
    skillAsk: (executorId: string) => `${subject}skill.ask.${executorId}`,
    /** Request to an executor for the tools of an MCP server. */
    mcpList: (executorId: string) => `${subject}mcp.list.${executorId}`,
    /** Request of a gateway to an executor for the tools of an MCP server that no run uses yet. */
    mcpDiscover: (executorId: string) => `${subject}mcp.discover.${executorId}`,
    /** The same for its prompts, or one of them. */
    mcpPrompts: (executorId: string) => `${subject}mcp.prompts.${executorId}`,
    /** Request of an executor to any gateway: a token for one request to an MCP server. */
    mcpToken: (executorId: string) => `${subject}mcp.token.${executorId}`,
    /** Asks an executor for access to the files or a port of a sandbox. */
    sandboxOpen: (executorId: string) => `${subject}sandbox.open.${executorId}`,
    /** Frames of a tunnel from the gateway to the executor, and back. */
    sandboxUp: (executorId: string, tunnelId: string) => `${subject}sandbox.up.${executorId}.${tunnelId}`,
    sandboxDown: (executorId: string, tunnelId: string) => `${subject}sandbox.down.${executorId}.${tunnelId}`,
  };
}

/** One attempt of a call. Records of an earlier attempt are never taken for those of a later one. */
export interface CallKey {
  readonly runId: string;
  readonly callId: string;
  readonly attempt: number;
}

const toTokens = ({ runId, callId, attempt }: CallKey): string => `${runId}.${callId}.${attempt}`;
