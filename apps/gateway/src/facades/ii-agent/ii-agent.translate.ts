import type { FactWithType, RecordedFact } from '@rondo/contract';
import { isNoteToAgent } from '@rondo/domain';
import { type SubscriberEvent, isNotice } from '../../live/stream-notices';
import {
  type AnsweredCall,
  describeShortEnd,
  describeWait,
  isQuestion,
  readAnsweredCall,
  readClosingWords,
} from '../run-answer';
import { isSilent } from '../silent-facts';

/** What is sent over the socket. */
export interface IiAgentFrame {
  readonly type: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/** A frame that follows from the log. Its id is the same for every reader. */
export interface LoggedFrame extends IiAgentFrame {
  readonly id: string;
}

/** A place in the frames of a session: the run among those that have begun, the fact, and the frame among those of the fact. */
export interface FramePlace {
  readonly place: number;
  readonly seq: number;
  readonly index: number;
}

const written = /^([1-9]\d{0,8})\.(\d{1,10})\.(\d{1,4})$/;

/** Undefined for what is no id of a frame. */
export function readFrameId(id: string): FramePlace | undefined {
  const [, place, seq, index] = written.exec(id) ?? [];
  return place === undefined ? undefined : { place: Number(place), seq: Number(seq), index: Number(index) };
}

/** Under this name the front end shows the words of a call, and not the call. */
const speaking = 'message_user';

/**
 * Turns the events of one run, from the first one on and in their order, into frames of II-Agent. Replies are shown whole, as
 * II-Agent has them, so no delta is read, and what a worker has withdrawn was never shown. `after`: the client has the frames up to
 * that one.
 */
export class IiAgentTranslator {
  /** What the run has said last to its user. */
  private words = '';

  constructor(
    private readonly place: number,
    private readonly after?: FramePlace,
  ) {}

  translate(event: SubscriberEvent): LoggedFrame[] {
    if (event.type === 'stream.snapshot' || event.type === 'stream.rewound') return [];
    if (isNotice(event)) return [this.showGap(event.data.to)];
    return event.seq === null ? [] : this.number(this.translateFact(event), event.seq);
  }

  /** Facts up to this one have been deleted. */
  showGap = (to: number): LoggedFrame => ({ ...gap, id: `${this.place}.${to}.1` });

  private number(frames: readonly IiAgentFrame[], seq: number): LoggedFrame[] {
    const { place, after } = this;
    return frames
      .map((frame, index) => ({ ...frame, id: `${place}.${seq}.${index + 1}`, index: index + 1 }))
      .filter(({ index }) => after?.place !== place || seq > after.seq || (seq === after.seq && index > after.index))
      .map(({ index: _, ...frame }) => frame);
  }

  private translateFact(fact: RecordedFact): IiAgentFrame[] {
    if (isSilent(fact)) return [];
    switch (fact.type) {
      case 'message.created':
        return this.showMessage(fact);
      case 'tool.planned':
        return this.plan(fact);
      case 'tool.completed':
      case 'tool.failed':
      case 'tool.unknown':
        return showResult(readAnsweredCall(fact));
      case 'run.waiting':
        return this.showWait(fact.data);
      case 'run.completed':
        return this.complete(fact);
      case 'run.stopped':
        return [
          { type: 'agent_response_interrupted', content: { text: fact.data.reason ?? 'The run was stopped.' } },
          ended,
        ];
      case 'run.failed':
        return [showError(fact.data.error.message), ended];
      case 'run.started':
      case 'run.resumed':
      case 'run.stop_requested':
      case 'iteration.started':
      case 'iteration.completed':
      case 'iteration.restarted':
      case 'model.retried':
      case 'model.fell_back':
      case 'usage.recorded':
      case 'tool.started':
      case 'approval.requested':
      case 'approval.decided':
      case 'context.compacted':
        return [];
    }
  }

  private showMessage({ data: { message } }: FactWithType<'message.created'>): IiAgentFrame[] {
    const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).filter(Boolean);
    if (message.type === 'user')
      return isNoteToAgent(message) ? [] : [{ type: 'user_message', content: { text: texts.join('\n\n') } }];
    if (message.type !== 'assistant') return [];
    this.words = texts.join('\n\n') || this.words;
    return message.content.flatMap((block) => {
      if (block.type !== 'text' && block.type !== 'reasoning') return [];
      const text = block.type === 'text' ? block.text : `\`\`\`Thinking:\n${block.text}\n\`\`\``;
      return block.text === '' ? [] : [{ type: 'agent_thinking', content: { text } }];
    });
  }

  private plan({ data: { tool_call: call } }: FactWithType<'tool.planned'>): IiAgentFrame[] {
    const { id, name, arguments: given } = call;
    if (!isSpoken(name)) return [showCall(id, name, given)];
    const words = isQuestion(name) ? given['text'] : readClosingWords(call);
    if (typeof words !== 'string' || words === '') return [];
    this.words = words;
    return [showCall(id, speaking, { text: words })];
  }

  /** A question ends the turn of II-Agent. What only others can end is told. */
  private showWait(waiting: FactWithType<'run.waiting'>['data']): IiAgentFrame[] {
    const { reason } = waiting;
    if (reason === 'ask') return this.endTurn();
    if (reason === 'child_runs') return [];
    return [{ type: 'system', content: { message: describeWait(waiting) } }];
  }

  private complete({ data }: FactWithType<'run.completed'>): IiAgentFrame[] {
    const why = describeShortEnd(data.finish_reason);
    return why === undefined ? this.endTurn() : [showError(why), ended];
  }

  private endTurn = (): IiAgentFrame[] => [
    { type: 'agent_response', content: { text: this.words || 'Task completed' } },
    ended,
  ];
}

const ended: IiAgentFrame = { type: 'stream_complete', content: {} };

export const showError = (message: string, code?: string): IiAgentFrame => ({
  type: 'error',
  content: { message, ...(code !== undefined && { code }) },
});

const gap = showError('Events of this session have been deleted: what follows is not all.');

/** Calls that are words to the user. */
const isSpoken = (name: string): boolean => name === 'complete' || isQuestion(name);

const showCall = (id: string, name: string, input: object): IiAgentFrame => ({
  type: 'tool_call',
  content: { tool_call_id: id, tool_name: name, tool_input: input },
});

function showResult(call: AnsweredCall | undefined): IiAgentFrame[] {
  if (!call || isSpoken(call.name)) return [];
  const { tool_call_id: id, name, result } = call;
  const text = result.success ? result.output : (result.error ?? result.output);
  return [{ type: 'tool_result', content: { tool_call_id: id, tool_name: name, result: text } }];
}
