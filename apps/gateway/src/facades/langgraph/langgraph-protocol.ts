import { isWaiting } from '@rondo/contract';
import {
  type LangGraphCommand,
  type LangGraphThreadStream,
  langGraphCoverage,
  langGraphResponses,
  langGraphRunRequest,
} from '@rondo/contract/api';
import { TerminalError } from '@rondo/domain';
import type { Caller, Runs } from '@rondo/persistence';
import { z } from 'zod';
import { parseInput } from '../../http/parse-input';
import type { EventFormat } from '../../live/event-stream';
import type { RunWatches } from '../../live/run-watches';
import type { ThreadEvent } from '../../live/thread-subscriptions';
import { readInteger, toInteger } from '../positions';
import { defaultAssistant } from './langgraph-assistants';
import type { Reader } from './langgraph-reader';
import type { GraphRun, LangGraphRuns } from './langgraph-runs';
import { LangGraphThreadTranslator, type ThreadFrame } from './langgraph-thread.translate';
import { type LangGraphThreads, type NamedThread, toAssistantId } from './langgraph-threads';
import type { MessageState } from './langgraph.messages';
import { readNames } from './langgraph.requests';
import { toSegmentName } from './langgraph.translate';

interface LangGraphProtocolDependencies {
  readonly runs: Pick<Runs, 'findNewestBegun'>;
  readonly graphRuns: Pick<LangGraphRuns, 'begin' | 'listInterrupts'>;
  readonly threads: Pick<LangGraphThreads, 'find' | 'getState' | 'readStateBefore'>;
  readonly watches: Pick<RunWatches, 'streamThread'>;
}

/** What a command did, and all that had happened on the thread before. */
interface Executed {
  readonly result: object;
  readonly appliedThroughSeq?: number;
}

/** A refusal that is an answer to a command. */
class CommandRefused extends TerminalError {}

const { refused } = langGraphCoverage.requests['POST /threads/{id}/commands'];
const refusedMethods: Readonly<Record<string, { readonly why: string }>> = refused;

/** Problems that the protocol has words for. Others are errors of the request, as a key that is not valid is. */
const answered: Readonly<Record<string, string>> = {
  invalid_request: 'invalid_argument',
  agent_not_found: 'invalid_argument',
  thread_busy: 'invalid_argument',
  run_not_waiting: 'no_such_interrupt',
  approval_not_open: 'no_such_interrupt',
  tool_call_answered: 'no_such_interrupt',
  tool_call_not_awaited: 'no_such_interrupt',
  no_such_interrupt: 'no_such_interrupt',
  not_supported: 'not_supported',
  unknown_command: 'unknown_command',
};

const fields = z.record(z.string(), z.unknown());
const runParams = z.looseObject({ config: z.looseObject({ configurable: fields.nullish() }).nullish() });

const stateParams = z.strictObject({
  namespace: z.array(z.string()).max(0, 'is not served: there are no subgraphs').optional(),
  keys: z.array(z.string()).optional(),
});

/** The protocol of `client.threads.stream()`: commands to a thread, and streams of events over all of its runs. */
export class LangGraphProtocol {
  constructor(private readonly dependencies: LangGraphProtocolDependencies) {}

  async execute(named: NamedThread, { id, method, params }: LangGraphCommand, caller: Caller) {
    try {
      const { result, appliedThroughSeq } = await this.carryOut(named, { method, params }, caller);
      const meta = { thread_id: named.threadName, applied_through_seq: appliedThroughSeq };
      return { type: 'success', id, result, meta };
    } catch (error) {
      const code = error instanceof TerminalError ? answered[error.code] : undefined;
      if (code === undefined) throw error;
      return { type: 'error', id, error: code, message: (error as TerminalError).message };
    }
  }

  /** Lasts until the client leaves. */
  async follow(named: NamedThread, request: LangGraphThreadStream, reader: Reader): Promise<void> {
    const thread = await this.dependencies.threads.find(named);
    const since = request.since ?? undefined;
    const wanted = since === undefined ? {} : { factsBelow: Math.max(1, readInteger(since).facts) };
    const start = await this.dependencies.runs.findNewestBegun(thread, wanted);
    const state = await this.dependencies.threads.readStateBefore(thread, start?.id);
    const format = createFormat({ ...request, since: since ?? -1 }, state);
    await this.dependencies.watches.streamThread(format, thread, { ...reader, place: start?.place ?? 1 });
  }

  private async carryOut(
    named: NamedThread,
    { method, params }: Pick<LangGraphCommand, 'method' | 'params'>,
    caller: Caller,
  ): Promise<Executed> {
    switch (method) {
      case 'run.start':
        return this.start(named, params, caller);
      case 'input.respond':
        return this.respond(named, params, caller);
      case 'state.get':
        return this.getState(named, params);
      default: {
        const refusal = refusedMethods[method];
        if (refusal) throw new CommandRefused('not_supported', `${method} is not served: ${refusal.why}`);
        throw new CommandRefused('unknown_command', `There is no command ${method}.`);
      }
    }
  }

  private async start(named: NamedThread, params: LangGraphCommand['params'], caller: Caller): Promise<Executed> {
    const { config, multitaskStrategy, ...given } = parseInput(runParams, params);
    const { checkpoint_id: checkpointId, ...configurable } = config?.configurable ?? {};
    const request = parseInput(langGraphRunRequest, {
      multitask_strategy: multitaskStrategy,
      ...given,
      config: config && { ...config, configurable },
      checkpoint_id: checkpointId,
      if_not_exists: 'create',
    });
    const begun = await this.dependencies.graphRuns.begin(caller, named.threadName, request);
    return {
      result: { run_id: toSegmentName(begun.segment) },
      appliedThroughSeq: await this.findSeqBefore(begun, caller),
    };
  }

  private async respond(named: NamedThread, params: LangGraphCommand['params'], caller: Caller): Promise<Executed> {
    const responses = parseInput(langGraphResponses, params);
    const known = new Set(await this.dependencies.graphRuns.listInterrupts(named));
    const unknown = responses.find(({ interrupt_id: id }) => !known.has(id));
    if (unknown)
      throw new CommandRefused('no_such_interrupt', `Nothing on this thread waits for ${unknown.interrupt_id}.`);
    const resume = Object.fromEntries(responses.map(({ interrupt_id: id, response }) => [id, response]));
    const request = parseInput(langGraphRunRequest, { assistant_id: defaultAssistant, command: { resume } });
    const begun = await this.dependencies.graphRuns.begin(caller, named.threadName, request);
    return { result: {}, appliedThroughSeq: await this.findSeqBefore(begun, caller) };
  }

  private async getState(named: NamedThread, params: LangGraphCommand['params']): Promise<Executed> {
    const { keys } = parseInput(stateParams, params);
    const { values, checkpoint } = await this.dependencies.threads.getState(named);
    const wanted = Object.entries(values).filter(([key]) => keys?.includes(key) ?? true);
    return { result: { values: Object.fromEntries(wanted), checkpoint: { id: checkpoint.checkpoint_id, ns: '' } } };
  }

  /** Zero for a run that waits for its turn: what comes before it has not happened yet. */
  private async findSeqBefore({ run, segment }: GraphRun, { accountId }: Caller): Promise<number> {
    const thread = { accountId, threadId: run.thread_id };
    const begun = await this.dependencies.runs.findNewestBegun(thread, { runId: run.id });
    return begun ? toInteger({ facts: begun.factsBefore + segment.after, units: Infinity }) : 0;
  }
}

interface FollowOptions extends Pick<LangGraphThreadStream, 'channels' | 'namespaces'> {
  readonly since: number;
}

/** The state goes from one run to the next one. */
function createFormat({ channels, namespaces, since }: FollowOptions, state: MessageState): EventFormat<ThreadEvent> {
  const wanted = new Set(channels);
  const hasRoot = !namespaces || namespaces.length === 0 || namespaces.some(({ length }) => length === 0);
  let place = 0;
  let translator: LangGraphThreadTranslator | undefined;
  const create = ({ run, place: at, factsBefore }: ThreadEvent): LangGraphThreadTranslator => {
    const names = readNames(run.metadata);
    if (names) state.nameInput(run.id, names);
    const overThrough = since >= 0 || isWaiting(run.status) ? 0 : run.last_seq;
    const followed = { runId: run.id, graphName: toAssistantId(run), place: at, factsBefore, since, overThrough };
    return new LangGraphThreadTranslator(followed, state);
  };
  return {
    headers: {},
    opening: '',
    isOver: () => false,
    write: (given) => {
      if (given.place !== place || !translator) translator = create(given);
      ({ place } = given);
      const frames = translator.translate(given.event);
      const shown = frames.filter(
        (frame) => frame.type === 'error' || (hasRoot && wanted.has(toChannel(frame.method))),
      );
      return shown.map(toFrame).join('');
    },
  };
}

const toChannel = (method: ThreadFrame['method']): string => method.replace(/\..*$/, '');

const toFrame = (frame: ReturnType<LangGraphThreadTranslator['translate']>[number]): string =>
  frame.type === 'error'
    ? `event: error\ndata: ${JSON.stringify(frame)}\n\n`
    : `id: ${frame.event_id}\nevent: ${frame.method}\ndata: ${JSON.stringify(frame)}\n\n`;
