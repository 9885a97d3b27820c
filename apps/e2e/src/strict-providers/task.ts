import { createHash } from 'node:crypto';

/**
 * What a scripted model does: so many steps, each a thought and one command whose text names the step, then an answer. The
 * next step follows from the numbers in a request alone, so a request that is repeated by another worker gets the same reply.
 */
export interface Task {
  readonly id: string;
  readonly steps: number;
}

/** A call of a step; its arguments name the step. */
export interface StepCall {
  readonly number: number;
  readonly name: string;
  readonly arguments: object;
}

export interface Step {
  readonly thought: string;
  /** What the provider gives out with the thought or the call, and wants back unchanged. */
  readonly signature: string;
  /** None in the last step, which is the answer. */
  readonly calls: readonly StepCall[];
  readonly text: string;
}

/** The mark in a user's message by which the model knows its task. */
export const taskMark = ({ id, steps }: Task): string => `[task ${id} of ${steps} steps]`;

/** The task that a request is about; undefined for one that has no mark. */
export function readTask(body: string): Task | undefined {
  const [, id, steps] = /\[task (\w+) of (\d+) steps\]/.exec(body) ?? [];
  return id === undefined ? undefined : { id, steps: Number(steps) };
}

/** The highest step that a text mentions; 0 if it mentions none. */
export function newestStep({ id }: Task, text: string): number {
  const mentioned = [...text.matchAll(new RegExp(`${id}-(\\d+)`, 'g'))].map(([, step]) => Number(step));
  return Math.max(0, ...mentioned);
}

/** Prints enough to fill a context of 40,000 characters long before step 50. */
const output = 'seq 1 250';

/** These steps are taken in one reply with two calls. */
const atOnce: readonly number[] = [10, 11];

export function stepNumber(task: Task, number: number): Step {
  const { id, steps } = task;
  const isLast = number > steps;
  const taken = atOnce.includes(number) ? atOnce : [number];
  const last = taken.at(-1);
  return {
    thought: `Thought ${last}: “${id}” goes on.\n`,
    signature: createHash('sha512').update(`${id} ${last}`).digest('base64'),
    calls: isLast ? [] : taken.map((one) => toCall(task, one)),
    text: isLast ? `All ${steps} steps are done.` : '',
  };
}

function toCall({ id, steps }: Task, number: number): StepCall {
  if (id === examination.id) return { number, name: 'look_up', arguments: { word: `${id}-${number}` } };
  const last = number === steps ? 'cat steps.log' : output;
  return {
    number,
    name: 'execute_command',
    arguments: { command: `echo ${id}-${number} >> steps.log; ${last}`, blocking: true },
  };
}

/** Whether the task is about an uploaded PDF and not about an image. */
export const isAboutPdf = ({ id }: Task): boolean => id.endsWith('_pdf');

/** The task of a request of `rondo doctor --model`, which has no mark. */
export const examination: Task = { id: 'examined_word', steps: 1 };

/** What steps.log holds if each command ran exactly once. */
export const wholeLog = ({ id, steps }: Task): string =>
  Array.from({ length: steps }, (_, index) => `${id}-${index + 1}\n`).join('');
