import {
  type FactType,
  type FinishReason,
  type PreparationStep,
  type Run,
  type RunId,
  type RunWait,
  type Waiting,
  type WorkspacePreparing,
  connectKey,
  isParked,
  isTerminal,
  scopesKey,
} from '@rondo/contract';
import type { RunQueueName } from './claim';

/** Where a run is at one moment, as its store knows it. */
export interface RunMoment {
  readonly at: string;
  readonly run: Run;
  /** `retryDelayMs` of `model.retried` or of a reply that is asked for again; `pacedBy` of the former. */
  readonly lastFact: {
    readonly type: FactType;
    readonly at: string;
    readonly retryDelayMs: number | undefined;
    readonly pacedBy?: string | undefined;
    /** The data of `workspace.preparing`. */
    readonly preparing?: WorkspacePreparing | undefined;
  };
  /** The worker that holds the run, if any, and whether it has renewed its lease in time. */
  readonly lease: { readonly isExpired: boolean; readonly expiresAt: string } | undefined;
  /** A run that holds no thread is queued behind the one that does. */
  readonly thread: { readonly isHeld: boolean; readonly holder: RunId | undefined; readonly ahead: number };
  readonly queue: { readonly name: RunQueueName; readonly dueSince: string; readonly ahead: number };
  /** Calls that were sent and are not answered, or are unknown while the run waits for a decision. */
  readonly calls: readonly WaitedCall[];
  /** That its calls would use, and that a person has to allow first. */
  readonly secrets: readonly { readonly name: string; readonly host: string; readonly since: string }[];
  readonly executorId: string | undefined;
  /** What only a newer version knows of a run that is due: see `unknownParts`. */
  readonly unknown: readonly string[];
  /** Child runs that are not over; empty where the run does not wait for them. */
  readonly childRuns: NonNullable<RunWait['child_runs']>;
}

const mostShownCalls = 20;

type WaitedCall = NonNullable<RunWait['tool_calls']>[number];
type Explanation = Omit<RunWait, 'run_id' | 'at'>;

/** The one thing that a run waits for. The order of the questions is the order in which one hides the next. */
export function explainWait(moment: RunMoment): RunWait {
  return { run_id: moment.run.id, at: moment.at, ...toExplanation(moment) };
}

function toExplanation(moment: RunMoment): Explanation {
  const { run, thread, lease } = moment;
  if (isTerminal(run.status)) return over(run);
  if (!thread.isHeld) return behindOnThread(moment);
  if (isParked(run.status)) return explainParked(moment);
  if (!lease) return inQueue(moment);
  if (lease.isExpired) {
    return {
      cause: 'takeover',
      sentence: 'The worker that had the run does not report any more; another one takes it over.',
      since: lease.expiresAt,
    };
  }
  if (run.stop_requested_at !== null) return stopping(moment, run.stop_requested_at);
  return forSecret(moment) ?? atWork(moment);
}

/** A request of the run, or of one of its calls, is held; what else the run does goes on. */
function forSecret({ secrets: [first], calls }: RunMoment): Explanation | undefined {
  if (!first) return undefined;
  const { name, host, since } = first;
  const sentence = `Waits for a person to allow the secret ${name}, for a request to ${host}.`;
  return { cause: 'approval', sentence, since, tool_calls: calls };
}

const over = (run: Run): Explanation => ({
  cause: 'none',
  sentence: describeEnding(run),
  since: run.finished_at ?? run.created_at,
});

/** Why a run that did not fail ended before it was done. */
const limits: Partial<Record<FinishReason, string>> = {
  budget_exceeded: 'what it or its account may spend does not cover its next request',
  max_iterations: 'it has used all its iterations',
  loop_detected: 'it repeated the same calls',
  length: 'its last reply is cut off at the output limit of the model',
  xml_tool_limit_reached: 'its last reply had more tool calls than one reply may have',
};

function describeEnding({ status, finish_reason: reason, error, steers }: Run): string {
  if (steers?.is_read === true) return `The run is over: ${steers.run_id} has read its message while it worked.`;
  const limit = status === 'completed' && reason !== null ? limits[reason] : undefined;
  if (limit !== undefined) return `The run ended before it was done: ${limit}.`;
  return error ? `The run is over: ${status}. ${error.message}` : `The run is over: ${status}.`;
}

function behindOnThread({ run, thread }: RunMoment): Explanation {
  const active = thread.holder === undefined ? 'the active run' : thread.holder;
  const before = thread.ahead === 0 ? 'it is the next' : `${countNoun(thread.ahead, 'run')} before it`;
  return {
    cause: 'thread',
    sentence:
      run.steers && run.steers.run_id === thread.holder
        ? `Its message waits for ${active}, which reads it before its next iteration; if that ends before, this run begins.`
        : `Waits for ${active} on the same thread to end; ${before}.`,
    since: run.created_at,
    ahead: thread.ahead,
    ...(thread.holder === undefined ? {} : { behind_run_id: thread.holder }),
  };
}

function explainParked({ run, lastFact: { at: since }, calls, childRuns }: RunMoment): Explanation {
  const { reason = 'budget', question, approvals = [], budget } = run.waiting ?? {};
  switch (reason) {
    case 'ask': {
      const isLast = run.iteration >= run.settings.limits.max_iterations;
      const ending = isLast ? ' With the answer it ends: it has used all its iterations.' : '';
      return {
        cause: 'answer',
        sentence: `Waits for an answer${question ? ` to: ${question.text}` : '.'}${ending}`,
        since,
      };
    }
    case 'approval': {
      const tool_calls = approvals.map(({ tool_call_id: id, name }) => ({ id, name, since: null }));
      const names = countNames(approvals) || 'a tool';
      return { cause: 'approval', sentence: `Waits for a person to approve calls of ${names}.`, since, tool_calls };
    }
    case 'budget':
      return {
        cause: 'budget',
        sentence: `Waits for a higher budget${describeUse(budget)}.`,
        since,
        ...(budget && { budget }),
      };
    case 'tool_unknown': {
      const names = calls.map(({ name }) => name).join(', ');
      const sentence = `Waits for a person to decide whether these calls took effect: ${names}.`;
      return { cause: 'tool_unknown', sentence, since, tool_calls: calls };
    }
    case 'elicitation':
      return forServers(run.waiting?.elicitations ?? [], since);
    case 'caller_tools':
      return forCaller(run.waiting?.tool_calls ?? [], since);
    case 'child_runs':
      return { cause: 'child_runs', sentence: waitsForRuns(childRuns), since, child_runs: childRuns };
  }
}

function forServers(elicitations: NonNullable<Waiting['elicitations']>, since: string): Explanation {
  const until = elicitations.map(({ expires_at }) => expires_at).sort()[0];
  const servers = [...new Set(elicitations.map(({ server }) => server))].join(', ');
  const what = elicitations.every(isToConnect) ? 'connect' : 'answer a question of';
  return {
    cause: 'elicitation',
    sentence: `Waits for a person to ${what} the MCP server ${servers}${until === undefined ? '' : `, until ${until}`}.`,
    since,
    ...(until !== undefined && { until }),
  };
}

const isToConnect = ({ key }: { readonly key: string }): boolean => key === connectKey || key === scopesKey;

function forCaller(awaited: NonNullable<Waiting['tool_calls']>, since: string): Explanation {
  const until = awaited.map(({ expires_at }) => expires_at).sort()[0];
  const names = awaited.map(({ name }) => name).join(', ');
  const tool_calls = awaited.map(({ tool_call_id: id, name, requested_at }) => ({ id, name, since: requested_at }));
  return {
    cause: 'caller_tools',
    sentence: `Waits for the caller's answer to ${names}${until === undefined ? '' : `, until ${until}`}.`,
    since,
    ...(until !== undefined && { until }),
    tool_calls: tool_calls.slice(0, mostShownCalls),
  };
}

/** Each name once: three calls of one tool are `execute_command (3)`. */
function countNames(calls: readonly { readonly name: string }[]): string {
  const counts = new Map<string, number>();
  for (const { name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count})`)).join(', ');
}

function waitsForRuns(children: RunMoment['childRuns']): string {
  const each = children.map(({ run_id, agent_name, status }) => `${run_id} (${agent_name}, ${status})`);
  return each.length === 0 ? 'Its child runs are over; it goes on in a moment.' : `Waits for run ${each.join(', ')}.`;
}

function describeUse(budget: RunWait['budget']): string {
  if (!budget) return '';
  const { usd, tokens, spent_usd, spent_tokens, root_run_id: root } = budget;
  const parts = [
    ...(usd === null ? [] : [`$${spent_usd ?? '?'} of $${usd}`]),
    ...(tokens === null ? [] : [`${spent_tokens} of ${tokens} tokens`]),
  ];
  const whose = root === undefined ? '' : ` of ${root} and the runs below it`;
  return `${whose}: ${parts.join(' and ')} are used, and the next request does not fit`;
}

function inQueue({ unknown, queue: { name, dueSince: since, ahead } }: RunMoment): Explanation {
  if (unknown.length > 0) {
    const sentence = `Waits for a worker of a newer version than this gateway's, which knows its ${unknown.join(', ')}.`;
    return { cause: 'queue', sentence, since, ahead };
  }
  if (name === 'compactions') {
    return { cause: 'summary', sentence: 'Waits for a free summarizer to shorten its context.', since };
  }
  const before = ahead === 0 ? 'it is the next of its account' : `${countNoun(ahead, 'run')} of its account before it`;
  return { cause: 'queue', sentence: `Waits for a free worker; ${before}.`, since, ahead };
}

function stopping({ calls }: RunMoment, since: string): Explanation {
  const what = calls.length === 0 ? 'its worker' : `the end of ${countNoun(calls.length, 'tool call')}`;
  return { cause: 'stop', sentence: `A stop was requested; waits for ${what}.`, since, tool_calls: calls };
}

function atWork({ at, run, lastFact, queue, calls, executorId }: RunMoment): Explanation {
  const { type, at: since, retryDelayMs, pacedBy } = lastFact;
  const askedModel = `Waits for the reply of ${run.model}.`;
  if (queue.name === 'compactions') return { cause: 'summary', sentence: 'A summarizer shortens its context.', since };
  const place = executorId === undefined ? {} : { executor_id: executorId };
  const [oldest] = calls;
  if (oldest) {
    const sentence = `Runs ${calls.map(({ name }) => name).join(', ')}.`;
    return { cause: 'tool', sentence, since: oldest.since ?? since, tool_calls: calls, ...place };
  }
  if (retryDelayMs !== undefined) {
    const until = new Date(Date.parse(since) + retryDelayMs).toISOString();
    if (pacedBy !== undefined && at < until) {
      const sentence = `Waits ${Math.ceil(retryDelayMs / 1_000)} s for the pace of ${pacedBy}.`;
      return { cause: 'model_retry', sentence, since, until };
    }
    if (at < until)
      return { cause: 'model_retry', sentence: `The model failed; it is asked again at ${until}.`, since, until };
    return { cause: 'model', sentence: askedModel, since: until };
  }
  if (type === 'iteration.started' || type === 'iteration.restarted') {
    return { cause: 'model', sentence: askedModel, since };
  }
  const workspace = describeWorkspace(lastFact);
  if (workspace !== undefined) return { cause: 'workspace', sentence: workspace, since, ...place };
  return { cause: 'worker', sentence: 'A worker prepares the next step.', since };
}

/** Undefined where nothing is done for the workspace. */
function describeWorkspace({ type, preparing }: RunMoment['lastFact']): string | undefined {
  if (type === 'workspace.rewinding') return 'Brings the files of the workspace back to an earlier state.';
  return preparing && describePreparing(preparing);
}

const mostShownPackages = 5;

/** What of it takes time. */
function describePreparing({ image, packages = {}, repository, files }: WorkspacePreparing): string {
  const names = Object.values(packages).flat();
  const more = names.length > mostShownPackages ? ` and ${names.length - mostShownPackages} more` : '';
  const parts = [
    ...(image === undefined ? [] : [`the image ${image}`]),
    ...(names.length === 0 ? [] : [`the packages ${names.slice(0, mostShownPackages).join(', ')}${more}`]),
    ...(repository ? [`the repository in ${repository.path}`] : []),
    ...(files.length === 0 ? [] : [countNoun(files.length, 'file')]),
  ];
  return parts.length === 0 ? 'Prepares the sandbox.' : `Prepares the workspace: ${parts.join(', ')}.`;
}

const stepWords: Record<PreparationStep, string> = {
  image: 'the image is provided',
  packages: 'the packages are installed',
  sandbox: 'the sandbox starts',
  repository: 'the repository is cloned',
  files: 'the files are written',
};

/** Explains the wait of a run whose workspace is prepared, with the step that its executor is at. */
export function explainPreparation(wait: RunWait, step: NonNullable<RunWait['step']>): RunWait {
  return { ...wait, sentence: `${wait.sentence} Now ${stepWords[step.name]}.`, step };
}

/** Explains the wait of a run whose worker holds calls back: the account has as many bytes in the queue as it may. */
export function explainQueueShare(wait: RunWait): RunWait {
  if (wait.cause !== 'tool') return wait;
  const names = (wait.tool_calls ?? []).map(({ name }) => name).join(', ');
  const sentence =
    `Waits to send calls of ${names}, or some of them: tool calls of the account that are not answered yet ` +
    'hold as many bytes as it may have in the queue.';
  return { ...wait, cause: 'tool_queue', sentence };
}

/** Explains the wait of a run whose worker waits for MCP servers, each with the time since when. */
export function explainServerStart(
  wait: RunWait,
  servers: readonly { readonly name: string; readonly since: string }[],
): RunWait {
  const [first] = servers;
  if (!first) return wait;
  const names = servers.map(({ name }) => name).join(', ');
  const noun = servers.length === 1 ? 'server' : 'servers';
  return { ...wait, sentence: `Starts the MCP ${noun} ${names}.`, since: first.since };
}

const countNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
