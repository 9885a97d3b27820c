import type { Plan } from './model/plan';

export interface Task {
  readonly plan: Plan;
  /** Continues this conversation instead of starting one. */
  readonly threadId?: string;
  /** Keep the conversation, because a later task continues it. */
  readonly keep?: boolean;
  /** Creates the run by a POST and subscribes to it afterwards, instead of both in one Socket.IO message. */
  readonly inTwoSteps?: boolean;
  /** Of a run of Rondo, instead of those that make its work that of the bare loop. */
  readonly settings?: object | undefined;
  /** Called with every piece of the answer as it becomes visible. */
  readonly onText?: (text: string) => void;
}

export interface SubmittedRun {
  /** Identifies the run in the model's requests. */
  readonly tag: string;
  readonly threadId: string;
  readonly submittedMs: number;
}

/** Rondo, or the bare loop that it is compared with. */
export interface MeasuredSystem {
  readonly name: 'rondo' | 'bare';
  /** Submits the task as a client does, and resolves when it has ended. */
  runTask(task: Task): Promise<SubmittedRun>;
  /** CPU time so far, by process, in milliseconds. */
  cpuMs(): Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

let tasks = 0;

export const newTag = (): string => `run${(tasks += 1).toString(36)}x`;
