import type { AgentDefinition, Message, RecordedFact, Run } from '@rondo/contract';
import type { ModelRequest, ToolNeed } from '@rondo/domain';

/**
 * A run as it can be run again without a model, tools and services. The log has every reply of the model and every answer of
 * a tool; the requests are what the engine asked its model then, which no log needs and which a later engine is compared with.
 */
export interface Recording {
  readonly run: Pick<Run, 'id' | 'thread_id' | 'created_at' | 'settings'>;
  /** The definition of the stored agent that the run began with. */
  readonly agent: AgentDefinition | null;
  /** The task of a dataset that the run worked on. `input` is the question with the text around it. */
  readonly task: RecordedTask | null;
  /** What the executors of the run lacked, so that it was not offered the tools that need it. */
  readonly lacks: readonly ToolNeed[];
  /** The messages of its thread from before the run. */
  readonly earlier: readonly Message[];
  readonly facts: readonly RecordedFact[];
  readonly requests: readonly RecordedRequest[];
}

export interface RecordedTask {
  readonly task_id: string;
  readonly question: string;
  readonly input: string;
}

/** A request to the model, as JSON. It is compared and never sent. */
export interface RecordedRequest {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly unknown[];
  readonly settings: unknown;
  readonly messages: readonly unknown[];
}

export const toRecordedRequest = ({ model, system, tools, settings, messages }: ModelRequest): RecordedRequest =>
  JSON.parse(JSON.stringify({ model, system, tools, settings, messages })) as RecordedRequest; // the fields just written

/** Why a run cannot be recorded. */
export class UnrecordableError extends Error {
  override readonly name = 'UnrecordableError';
}
