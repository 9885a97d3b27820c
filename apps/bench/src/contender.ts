import type { Plan } from './model/plan';

export interface Task {
  readonly plan: Plan;
  /** Goes on with this conversation instead of beginning one. */
  readonly threadId?: string;
  /** It will be gone on with. */
  readonly keep?: boolean;
  /** Submits it by HTTP and asks to be shown it then, where one message would do. */
  readonly inTwoSteps?: boolean;
  /** Called with every piece of the answer as it becomes visible. */
  readonly onText?: (text: string) => void;
}

export interface Performance {
  /** By which the model knows the run. */
  readonly tag: string;
  readonly threadId: string;
  readonly submittedMs: number;
}

/** Who is measured: Rondo, or the bare loop that it is measured against. */
export interface Contender {
  readonly name: 'rondo' | 'bare';
  /** Submits the task and watches it to its end, as a client does. */
  perform(task: Task): Promise<Performance>;
  /** CPU time so far, by process, in milliseconds. */
  cpuMs(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

let tasks = 0;

export const newTag = (): string => `run${(tasks += 1).toString(36)}x`;
