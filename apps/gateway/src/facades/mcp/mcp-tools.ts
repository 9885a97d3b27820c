import type { CallToolRequestParams, CallToolResult, SpecTypes, Tool } from '@modelcontextprotocol/server';
import {
  type AccountId,
  type Run,
  type RunId,
  type RunStatus,
  type Waiting,
  isTerminal,
  isWaiting,
  runId,
} from '@rondo/contract';
import { type McpRunOutcome, type McpToolName, mcpRunOutcome, mcpToolInputs } from '@rondo/contract/api';
import type { Agents, AuditLog, Caller, RunAddress, Runs } from '@rondo/persistence';
import { z } from 'zod';
import { parseInput } from '../../http/parse-input';
import { ApiError } from '../../problems/api-error';
import { problemResponse } from '../../problems/problem-response';
import type { RunService } from '../../runs/run-service';
import { findNamedAgent } from '../named-agents';

/** Who calls, and from which address. */
export interface McpCaller {
  readonly caller: Caller;
  readonly address: string;
}

/** A call that has its result, or a run whose end is the result. */
export type CallOutcome =
  | { readonly type: 'done'; readonly result: CallToolResult }
  | { readonly type: 'follow'; readonly run: Run; readonly waitS: number | null };

interface McpToolsDependencies {
  readonly runs: Pick<Runs, 'get' | 'result' | 'events'>;
  readonly agents: Pick<Agents, 'findId'>;
  readonly service: Pick<RunService, 'create' | 'answer' | 'stop'>;
  readonly auditLog: Pick<AuditLog, 'record'>;
}

/** How long a stop is awaited before the run is shown as it is then. */
export const stopS = 10;

const tools: Readonly<Record<McpToolName, Pick<Tool, 'description' | 'annotations'>>> = {
  run_agent: {
    description:
      'Run an agent and wait for its answer. If it asks a question, the status is waiting_input: answer with answer_run, then wait with get_run.',
    annotations: { title: 'Run an agent', openWorldHint: true },
  },
  start_run: {
    description: 'Start an agent in the background. get_run tells how far it is.',
    annotations: { title: 'Start a run', openWorldHint: true },
  },
  get_run: {
    description: 'What a run has answered, asks or waits for. With wait_s: as soon as it is over, or asks something.',
    annotations: { title: 'Look at a run', readOnlyHint: true },
  },
  answer_run: {
    description: 'Answer the question of a run, which then goes on. get_run waits for what it does next.',
    annotations: { title: 'Answer a run', openWorldHint: true },
  },
  stop_run: {
    description: 'Stop a run, with everything that it has started.',
    annotations: { title: 'Stop a run', destructiveHint: true, idempotentHint: true },
  },
};

const toJsonSchema = (schema: z.ZodType, io: 'input' | 'output') =>
  z.toJSONSchema(schema, { io }) as Tool['inputSchema']; // of an object

/** The tools as clients list them. */
export const mcpTools: readonly Tool[] = Object.entries(tools).map(([name, about]) => ({
  name,
  ...about,
  inputSchema: toJsonSchema(mcpToolInputs[name as McpToolName], 'input'), // a name of the table above
  outputSchema: toJsonSchema(mcpRunOutcome, 'output'),
}));

export const isMcpTool = (name: string): name is McpToolName => Object.hasOwn(tools, name);

/** What the tools of this server do, in terms of runs. It keeps nothing. */
export class McpTools {
  constructor(private readonly dependencies: McpToolsDependencies) {}

  /** Carries out a call. What it is refused for is its result; rejects with failures of this service only. */
  async call(from: McpCaller, name: McpToolName, given: CallToolRequestParams['arguments']): Promise<CallOutcome> {
    try {
      return await this.perform(from, name, given ?? {});
    } catch (error) {
      return { type: 'done', result: toRefusedResult(error) };
    }
  }

  /** Begins a run. Rejects with the problems of that. */
  async begin({ accountId, keyId }: Caller, given: unknown): Promise<Run> {
    const { input, agent, model, thread_id } = parseInput(mcpToolInputs.run_agent, given);
    const { agents, service } = this.dependencies;
    const agentId = agent === undefined ? undefined : await findNamedAgent(agents, accountId, agent);
    if (agent !== undefined && agentId === undefined)
      throw new ApiError('agent_not_found', `There is no agent ${agent}.`);
    const request = { thread_id, model, agent_id: agentId, on_active_run: 'reject' as const, metadata: {} };
    const content = [{ type: 'text' as const, text: input }];
    const { run } = await service.create(accountId, { ...request, input: content }, { createdBy: keyId });
    return run;
  }

  /** Rejects with `run_not_found`. */
  get(accountId: AccountId, id: RunId): Promise<Run> {
    return this.dependencies.runs.get({ accountId, runId: id });
  }

  /** Asks for the stop, which the audit log records. */
  async stop({ caller, address }: McpCaller, id: RunId, reason: string): Promise<Run> {
    const act = { caller, address, action: 'run.stop', target: id };
    const run = { accountId: caller.accountId, runId: id };
    return (await this.dependencies.auditLog.record(act, () => this.dependencies.service.stop(run, reason))).run;
  }

  /** How a run is now, as the result of a call. Rejects with `run_not_found`. */
  async describe(address: RunAddress): Promise<CallToolResult> {
    const run = await this.dependencies.runs.get(address);
    if (!isTerminal(run.status)) return toResult(run, { text: describeWait(run.waiting), isError: false });
    if (run.status === 'stopped') return toResult(run, { text: await this.describeStop(address, run), isError: false });
    const { result, error } = await this.dependencies.runs.result(address);
    return toResult(run, {
      text: run.status === 'completed' ? result.response : (error ?? ''),
      isError: error !== null,
    });
  }

  private async describeStop(address: RunAddress, { last_seq: last }: Run): Promise<string> {
    const { data } = await this.dependencies.runs.events(address, { after: last - 1, limit: 1 });
    const [end] = data;
    const reason = end?.type === 'run.stopped' ? end.data.reason : null;
    return reason ? `The run was stopped: ${reason}` : 'The run was stopped.';
  }

  private async perform(from: McpCaller, name: McpToolName, given: unknown): Promise<CallOutcome> {
    switch (name) {
      case 'run_agent':
        return { type: 'follow', run: await this.begin(from.caller, given), waitS: null };
      case 'start_run':
        return this.show(await this.begin(from.caller, given), from.caller);
      case 'get_run':
        return this.look(from.caller, given);
      case 'answer_run':
        return this.answer(from.caller, given);
      case 'stop_run': {
        const { run_id: id } = parseInput(mcpToolInputs.stop_run, given);
        const run = await this.stop(from, id, 'stopped by an MCP client');
        return isTerminal(run.status) ? this.show(run, from.caller) : { type: 'follow', run, waitS: stopS };
      }
    }
  }

  private async look(caller: Caller, given: unknown): Promise<CallOutcome> {
    const { run_id: id, wait_s: waitS = 0 } = parseInput(mcpToolInputs.get_run, given);
    const run = await this.get(caller.accountId, id);
    const isAtRest = isTerminal(run.status) || isWaiting(run.status);
    return waitS === 0 || isAtRest ? this.show(run, caller) : { type: 'follow', run, waitS };
  }

  private async answer(caller: Caller, given: unknown): Promise<CallOutcome> {
    const { run_id: id, answer } = parseInput(mcpToolInputs.answer_run, given);
    const content = [{ type: 'text' as const, text: answer }];
    return this.show(
      await this.dependencies.service.answer({ accountId: caller.accountId, runId: id, content }),
      caller,
    );
  }

  private async show({ id }: Run, { accountId }: Caller): Promise<CallOutcome> {
    return { type: 'done', result: await this.describe({ accountId, runId: id }) };
  }
}

/** Why something was refused, or failed, in words. */
export function describeRefusal(error: unknown): string {
  const { code, detail, title, active_run_id: active } = problemResponse(error).body;
  return `${detail ?? title} (${code})${active === undefined ? '' : ` The active run is ${active}.`}`;
}

export const toErrorResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });

/** A refusal as a result. Throws what is a failure of this service. */
export function toRefusedResult(error: unknown): CallToolResult {
  if (problemResponse(error).body.status >= 500) throw error;
  return toErrorResult(describeRefusal(error));
}

function toResult(run: Run, { text, isError }: { readonly text: string; readonly isError: boolean }): CallToolResult {
  const question = run.waiting?.question?.text ?? null;
  const outcome: McpRunOutcome = { run_id: run.id, thread_id: run.thread_id, status: run.status, text, question };
  const content = [{ type: 'text' as const, text: JSON.stringify(outcome) }];
  return { content, structuredContent: outcome, ...(isError && { isError }) };
}

/** Why a run that is not over goes no further, where that is no question in words. */
const waits: Partial<Record<Waiting['reason'], string>> = {
  approval: 'It waits for a person who allows or denies a call.',
  budget: 'It waits for a higher budget.',
  caller_tools: 'It waits for results of tools that its caller runs.',
  child_runs: 'It waits for its child runs.',
  elicitation: 'It waits for a person who answers what a tool asks.',
  tool_unknown: 'It waits for a person who says what became of a call.',
};

const describeWait = (waiting: Waiting | null): string => (waiting && waits[waiting.reason]) ?? '';

/** A run as the client of an experimental task sees it. */
export const toTask = (run: Run): SpecTypes['Task'] => ({
  taskId: run.id,
  status: toTaskStatus(run.status),
  statusMessage: run.waiting?.question?.text ?? (describeWait(run.waiting) || run.status),
  createdAt: run.created_at,
  lastUpdatedAt: run.finished_at ?? run.started_at ?? run.created_at,
  ttl: null,
  pollInterval: 1_000,
});

function toTaskStatus(status: RunStatus): SpecTypes['TaskStatus'] {
  if (status === 'completed' || status === 'failed') return status;
  if (status === 'stopped') return 'cancelled';
  return isWaiting(status) ? 'input_required' : 'working';
}

/** The run of a task. Undefined for what is no id of a run. */
export const readTaskId = (taskId: unknown): RunId | undefined => runId.safeParse(taskId).data;
