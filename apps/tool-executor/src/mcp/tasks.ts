import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import type { CallInput, RequiredInput } from '@rondo/contract';
import { z } from 'zod';
import { InputRefused, readRequiredInput } from './asked-input';
import { AnswerUnreadable, type McpAnswer, lenient, readAnswer } from './mcp-result';

type Fields = Readonly<Record<string, unknown>>;

/** By the revision of 2025-11-25, `ttl` and `pollInterval`; by the extension of 2026-07-28, `ttlMs` and `pollIntervalMs`. */
const text = lenient(z.string());
const count = lenient(z.number().nonnegative());
const task = z.looseObject({
  taskId: z.string().min(1).max(1_000),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']).catch('working'),
  ...{ statusMessage: text, pollInterval: count, pollIntervalMs: count },
});
type Task = z.infer<typeof task>;

/** The extension of 2026-07-28, and how a server of 2025-11-25 is told that a call may become a task. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';
const keptMs = 3_600_000;
export const asTask = { task: { ttl: keptMs } };

/** What the server says of the tools that it can work on as tasks, by 2025-11-25. */
const definition = z.looseObject({
  name: z.string(),
  execution: z.looseObject({ taskSupport: z.enum(['optional', 'required']) }),
});

export const findTaskTools = (given: readonly unknown[]): ReadonlySet<string> =>
  new Set(given.flatMap((one) => definition.safeParse(one).data?.name ?? []));

/** The task that a server made of a call. Undefined where its answer is a result. */
export function readCreatedTask(answer: Fields): string | undefined {
  const given = answer['resultType'] === 'task' ? answer : answer['task'];
  return task.safeParse(given).data?.taskId;
}

/** The server does not know the task any more: whether its call took effect is not known, and asking again is no use. */
export class TaskLost extends Error {
  override readonly name = 'TaskLost';
}

export interface TaskRequest {
  readonly id: string;
  readonly server: string;
  readonly isModern: boolean;
  readonly input?: CallInput | undefined;
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
  readonly send: (method: string, params: Fields) => Promise<Fields>;
}

const pauses = { least: 250, usual: 1_000, most: 30_000 };

/** Asks for the task until it is over, at the pace that the server wants within bounds. */
export async function pollTask(request: TaskRequest): Promise<McpAnswer | RequiredInput> {
  const { id, input, send, signal } = request;
  const answers = input?.answers ?? {};
  if (request.isModern && Object.keys(answers).length > 0)
    await send('tasks/update', { taskId: id, inputResponses: answers });
  let shown: string | undefined;
  for (;;) {
    const answer = await send('tasks/get', { taskId: id }).catch(asLost);
    const known = task.safeParse(answer);
    if (!known.success) throw new AnswerUnreadable('what it says of its task cannot be read');
    const { statusMessage: message } = known.data;
    if (message !== undefined && message !== shown) request.progress(message);
    shown = message;
    const outcome = await readOutcome(request, known.data, answers);
    if (outcome) return outcome;
    await sleep(toPause(known.data), undefined, { signal });
  }
}

const asLost = (error: unknown): never => {
  const isUnknown =
    error instanceof ProtocolError && (error.code as ProtocolErrorCode) === ProtocolErrorCode.InvalidParams;
  throw isUnknown ? new TaskLost('it does not know its task any more', { cause: error }) : error;
};

const toPause = ({ pollInterval, pollIntervalMs }: Task): number =>
  Math.min(Math.max(pollIntervalMs ?? pollInterval ?? pauses.usual, pauses.least), pauses.most);

/** Undefined while it is worked on. */
async function readOutcome(
  { id, server, isModern, send }: TaskRequest,
  known: Task,
  answers: CallInput['answers'],
): Promise<McpAnswer | RequiredInput | undefined> {
  const { status, statusMessage, result, error } = known;
  if (status === 'working') return undefined;
  if (status === 'cancelled') return toFailure(statusMessage ?? 'The server cancelled its task.');
  if (!isModern) return readAnswer(await send('tasks/result', { taskId: id }).catch(asLost)); // it waits where the status is input_required
  if (status === 'input_required') return readQuestions(server, known, answers);
  if (status === 'completed') return readAnswer(fields.parse(result));
  return toFailure(z.looseObject({ message: z.string() }).safeParse(error).data?.message ?? 'Its task failed.');
}

const fields = z.record(z.string(), z.unknown());

const toFailure = (reason: string): McpAnswer => ({ content: [{ type: 'text', text: reason }], isError: true });

/** Undefined where all that it asks for was answered: it may need a moment to notice. */
function readQuestions(
  server: string,
  { inputRequests }: Task,
  answers: CallInput['answers'],
): RequiredInput | undefined {
  const asked = Object.entries(fields.safeParse(inputRequests).data ?? {}).filter(([key]) => !(key in answers));
  if (asked.length === 0) return undefined;
  const required = readRequiredInput(server, { inputRequests: Object.fromEntries(asked) });
  if ('asked' in required) return required;
  throw new InputRefused('it asks for something else than a form or a page');
}
