import type { BrowserState, PlanProgress, RecordedResult } from '@rondo/contract';
import type { AgentRun } from '../loop-context';
import type { AgentPorts } from '../ports';
import type { RunState } from '../run/run-state';

/** How a call ended: with a result, or with an unknown outcome. */
export type CallOutcome =
  | {
      readonly result: RecordedResult;
      readonly durationMs: number;
      readonly problem?: CallProblem;
      /** The plan in todo.md, where the call may have changed it. */
      readonly plan?: PlanProgress;
      /** What the browser of the thread showed afterwards. */
      readonly browser?: BrowserState | undefined;
      /** The id of the API key with which its caller answered it. */
      readonly answeredBy?: string;
      /** What the model is offered from its next turn on. */
      readonly loadedTools?: readonly string[] | undefined;
    }
  | { readonly unknown: string };

/** Why a call was answered without being run. */
export type CallProblem = 'malformed' | 'unknown_tool' | 'surplus';

/** What an answer needs to know of its run. The loop, the end of a run and a person's resolution answer calls. */
export interface AnswerContext {
  readonly run: Pick<AgentRun, 'id' | 'threadId'>;
  readonly state: Pick<RunState, 'iteration' | 'calls'>;
  readonly ports: { readonly ids: Pick<AgentPorts['ids'], 'messageId'> };
}
