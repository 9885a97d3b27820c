import type { DeltaEvent, FactWithType, RecordedFact, Waiting } from '@rondo/contract';
import { deltaText, listStoredTexts } from '@rondo/domain';
import { type SubscriberEvent, isNotice } from '../../live/stream-notices';
import { describeOtherWait, describeShortEnd, isQuestion, readAnsweredCall, readClosingWords } from '../run-answer';
import { isSilent } from '../silent-facts';

type TaskState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED';

type Part = { readonly text: string } | { readonly data: object };

interface Status {
  readonly state: TaskState;
  readonly timestamp: string;
  readonly message?: object;
}

/** What a stream of A2A says of a task. */
export type A2aFrame =
  { readonly task: object } | { readonly statusUpdate: object } | { readonly artifactUpdate: object };

interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
  readonly threadId: string;
}

/**
 * A task as its run's facts and deltas, in their order, make it. It has no clock and reads nothing: the same facts give the same
 * artifacts, whatever pieces the deltas between them come in.
 */
export class A2aTask {
  private readonly artifacts = new Map<string, string>();
  private status: Status;
  private closing: { readonly id: string; readonly words: string } | undefined;
  /** Facts that it should have were deleted. */
  isIncomplete = false;

  constructor(
    private readonly ids: TaskIds,
    submittedAt: string,
  ) {
    this.status = { state: 'TASK_STATE_SUBMITTED', timestamp: submittedAt };
  }

  get isEnded(): boolean {
    return ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED'].includes(this.status.state);
  }

  /** Nothing follows unless the client, or a person, answers. */
  get isOver(): boolean {
    return this.isEnded || this.isIncomplete || this.status.state === 'TASK_STATE_INPUT_REQUIRED';
  }

  toJson(): object {
    const { taskId, contextId, threadId } = this.ids;
    return {
      id: taskId,
      contextId,
      status: this.status,
      artifacts: [...this.artifacts].map(([artifactId, text]) => ({ artifactId, parts: [{ text }] })),
      metadata: { rondo: { run_id: taskId, thread_id: threadId } },
    };
  }

  /** What a client that has all before is told. */
  apply(event: SubscriberEvent): A2aFrame[] {
    if (event.type === 'stream.snapshot') return [];
    if (isNotice(event)) {
      this.isIncomplete = true;
      return [];
    }
    return event.seq === null ? this.applyDelta(event) : this.applyFact(event);
  }

  private applyDelta(delta: DeltaEvent): A2aFrame[] {
    if (delta.type !== 'message.delta') return [];
    const shown = this.artifacts.get(delta.stream_id)?.length ?? 0;
    const text = delta.offset > shown ? '' : deltaText(delta).slice(shown - delta.offset); // its fact has the whole text
    return text === '' ? [] : [this.say(delta.stream_id, text)];
  }

  private applyFact(fact: RecordedFact): A2aFrame[] {
    if (isSilent(fact)) return [];
    switch (fact.type) {
      case 'run.started':
      case 'run.resumed':
        return [this.setStatus(fact, 'TASK_STATE_WORKING')];
      case 'message.created':
        return listStoredTexts(fact).flatMap(({ type, stream_id: id, text }) =>
          type === 'message.delta' ? [this.say(id, text.slice(this.artifacts.get(id)?.length ?? 0), true)] : [],
        );
      case 'iteration.restarted':
        return fact.data.withdrawn_stream_ids.flatMap((id) => this.withdraw(id));
      case 'tool.planned':
        return this.plan(fact, fact.data.tool_call);
      case 'tool.completed':
      case 'tool.failed':
      case 'tool.unknown':
        return this.showResult(fact);
      case 'run.waiting':
        return fact.data.reason === 'child_runs' ? [] : [this.wait(fact, fact.data)];
      case 'run.completed': {
        const said = this.closing ? [this.say(this.closing.id, this.closing.words, true)] : [];
        const why = describeShortEnd(fact.data.finish_reason);
        const end = why === undefined ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_FAILED';
        return [...said, this.setStatus(fact, end, why === undefined ? undefined : [{ text: why }])];
      }
      case 'run.stopped':
        return [this.cancel(fact, fact.data.reason)];
      case 'run.failed':
        return [
          this.setStatus(fact, 'TASK_STATE_FAILED', [{ text: `${fact.data.error.message} (${fact.data.error.code})` }]),
        ];
      case 'tool.started':
      case 'approval.requested':
      case 'approval.decided':
      case 'run.stop_requested':
      case 'iteration.started':
      case 'iteration.completed':
      case 'usage.recorded':
      case 'model.retried':
      case 'model.fell_back':
      case 'context.compacted':
        return [];
    }
  }

  private say(artifactId: string, text: string, lastChunk = false): A2aFrame {
    const before = this.artifacts.get(artifactId);
    this.artifacts.set(artifactId, (before ?? '') + text);
    const artifact = { artifactId, parts: [{ text }] };
    return { artifactUpdate: { ...this.address, artifact, append: before !== undefined, lastChunk } };
  }

  /** The protocol cannot take an artifact back: an empty one takes its place. */
  private withdraw(artifactId: string): A2aFrame[] {
    if (!this.artifacts.delete(artifactId)) return [];
    const artifact = { artifactId, parts: [{ text: '' }] };
    const metadata = { rondo: { withdrawn: true } };
    return [{ artifactUpdate: { ...this.address, artifact, append: false, lastChunk: true, metadata } }];
  }

  private plan(
    fact: RecordedFact,
    { id, name, arguments: given }: Extract<RecordedFact, { type: 'tool.planned' }>['data']['tool_call'],
  ): A2aFrame[] {
    const words = readClosingWords({ name, arguments: given });
    if (words !== undefined) this.closing = { id: `answer_${id}`, words };
    return this.showTool(fact, name, { tool_call: { id, name, arguments: given } });
  }

  private showTool(fact: RecordedFact, name: string, data: object): A2aFrame[] {
    if (name === 'complete' || isQuestion(name)) return [];
    const status = { state: 'TASK_STATE_WORKING', timestamp: fact.at, message: this.toMessage(fact, [{ data }]) };
    return [{ statusUpdate: { ...this.address, status } }];
  }

  /** Nothing while the outcome of the call is unknown, and the model was not told so. */
  private showResult(fact: FactWithType<'tool.completed' | 'tool.failed' | 'tool.unknown'>): A2aFrame[] {
    const answered = readAnsweredCall(fact);
    if (!answered) return [];
    const { tool_call_id, name, result } = answered;
    return this.showTool(fact, name, { tool_result: { tool_call_id, name, ...result } });
  }

  private wait(fact: RecordedFact, waiting: Waiting): A2aFrame {
    const { reason, question, approvals = [] } = waiting;
    const asked = reason === 'ask' && question ? [{ text: question.text }] : [];
    const wanted = approvals.flatMap(({ approval_id, tool_call_id, name, expires_at }): Part[] => [
      { text: `May ${name} be called?` },
      { data: { approval: { approval_id, tool_call_id, name, expires_at } } },
    ]);
    const other = reason === 'caller_tools' ? resultsElsewhere : describeOtherWait(waiting);
    const parts = [...asked, ...wanted, ...(other === undefined ? [] : [{ text: other }])];
    return this.setStatus(fact, 'TASK_STATE_INPUT_REQUIRED', parts);
  }

  private cancel(fact: RecordedFact, reason: string | null): A2aFrame {
    return this.setStatus(fact, 'TASK_STATE_CANCELED', reason ? [{ text: reason }] : undefined);
  }

  private setStatus(fact: RecordedFact, state: TaskState, parts?: readonly Part[]): A2aFrame {
    this.status = { state, timestamp: fact.at, ...(parts && { message: this.toMessage(fact, parts) }) };
    return { statusUpdate: { ...this.address, status: this.status } };
  }

  private toMessage({ id: messageId }: RecordedFact, parts: readonly Part[]): object {
    return { messageId, ...this.address, role: 'ROLE_AGENT', parts };
  }

  private get address() {
    const { taskId, contextId } = this.ids;
    return { taskId, contextId };
  }
}

const resultsElsewhere = 'The task waits for results of tools: give them with POST /v1/runs/{id}/tool-results.';
