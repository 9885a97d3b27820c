import type { ProgressToken, RequestId } from '@modelcontextprotocol/server';
import { type RecordedFact, type RunId, isTerminalFact, runId, readJson } from '@rondo/contract';
import { z } from 'zod';
import type { SubscriberEvent } from '../../live/stream-notices';
import { type Position, PositionedReader, type PositionedEvent, toInteger } from '../positions';

/** How far a run has come, and what it does. */
export interface Progress {
  /** Rises with each one, and is the same for every reader. */
  readonly progress: number;
  readonly message: string;
  readonly position: Position;
}

const longestMessage = 200;
/** Text has progress with its first words, and whenever another so many UTF-16 units of the reply are there. */
const unitsPerProgress = 64;

/**
 * Turns the events of a run after a position into progress, up to the fact that ends the call: the run is over, or it waits and,
 * unless it is a task, its caller has to be told. That fact has no progress, so that no reader comes back after it.
 */
export class ProgressTranslator {
  private readonly reader: PositionedReader;
  /** The line of the reply that is being written, as far as this reader has seen it. */
  private line = '';
  isOver = false;

  constructor(
    from: Position,
    private readonly options: { readonly isTask: boolean },
  ) {
    this.reader = new PositionedReader(from);
  }

  translate(event: SubscriberEvent): Progress[] {
    const read = this.isOver ? [] : this.reader.read(event);
    return read.flatMap((one) => {
      const message = this.isOver ? undefined : this.describe(one);
      return message === undefined ? [] : [toProgress(one.position, message)];
    });
  }

  private describe(event: PositionedEvent): string | undefined {
    if (event.type === 'notice')
      return event.notice.type === 'stream.gap' ? 'Earlier events of the run have been deleted.' : undefined;
    if (event.type === 'fact') {
      this.isOver = endsCall(event.fact, this.options);
      this.line = '';
      return this.isOver ? undefined : describeFact(event.fact);
    }
    const { text, position } = event;
    this.line = (this.line + text).split('\n').at(-1) ?? '';
    const before = position.units - text.length;
    const isDue = before === 0 || toStep(before) !== toStep(position.units);
    return isDue ? this.line.slice(-longestMessage) : undefined;
  }
}

const toStep = (units: number): number => Math.floor(units / unitsPerProgress);

const toProgress = (position: Position, message: string): Progress => ({
  progress: toInteger({ facts: position.seq, units: position.units }),
  message,
  position,
});

const endsCall = (fact: RecordedFact, { isTask }: { readonly isTask: boolean }): boolean =>
  isTerminalFact(fact) || (fact.type === 'run.waiting' && fact.data.reason !== 'child_runs' && !isTask);

/** What is worth a word to a person who waits for the answer. */
const messages: { readonly [Type in RecordedFact['type']]?: (data: FactData<Type>) => string } = {
  'run.started': () => 'The run has started.',
  'run.resumed': () => 'The run goes on.',
  'run.waiting': ({ reason }) => (reason === 'child_runs' ? 'It waits for its child runs.' : 'It waits for a person.'),
  'run.stop_requested': () => 'The run is being stopped.',
  'iteration.restarted': () => 'The reply is written anew.',
  'model.retried': () => 'The model is asked again.',
  'model.fell_back': () => 'Another model stands in.',
  'tool.started': ({ name }) => `${name} runs.`,
  'tool.completed': ({ name }) => `${name} has ended.`,
  'tool.failed': ({ name }) => `${name} has failed.`,
  'context.compaction_started': () => 'The conversation is being summarized.',
};

type FactData<Type> = Extract<RecordedFact, { type: Type }>['data'];

const describeFact = ({ type, data }: RecordedFact): string | undefined => messages[type]?.(data as never); // of its type

/** Where in the answer to a request a client is: all that a gateway which does not know it needs to send the rest. */
export interface AnswerPoint {
  readonly runId: RunId;
  readonly requestId: RequestId;
  /** Undefined: the client wants no progress. */
  readonly progressToken: ProgressToken | undefined;
  /** The answer is the result of a task, which goes on while its run waits. */
  readonly isTask: boolean;
  /** When the answer is sent at the latest, in milliseconds since 1970. Null: when the call has ended. */
  readonly until: number | null;
  readonly seq: number;
  readonly units: number;
}

const textOrNumber = z.union([z.string(), z.number()]);
const count = z.number().int().min(0);
const written = z.tuple([runId, textOrNumber, textOrNumber.nullable(), z.boolean(), count.nullable(), count, count]);

/** As the id of an event. */
export function writeEventId(point: AnswerPoint): string {
  const { runId: id, requestId, progressToken = null, isTask, until, seq, units } = point;
  return Buffer.from(JSON.stringify([id, requestId, progressToken, isTask, until, seq, units])).toString('base64url');
}

/** Undefined for what `writeEventId` has not written. */
export function readEventId(text: string): AnswerPoint | undefined {
  const { success, data } = written.safeParse(readJson(Buffer.from(text, 'base64url').toString()));
  if (!success) return undefined;
  const [id, requestId, progressToken, isTask, until, seq, units] = data;
  return { runId: id, requestId, progressToken: progressToken ?? undefined, isTask, until, seq, units };
}

/** An answer is about one run. */
export const toPosition = ({ seq, units }: Pick<AnswerPoint, 'seq' | 'units'>): Position => ({ place: 1, seq, units });

/** A message as an event that a client can resume after. */
export const toEvent = (message: object, point?: AnswerPoint): string =>
  `${point ? `id: ${writeEventId(point)}\n` : ''}event: message\ndata: ${JSON.stringify(message)}\n\n`;

export const toProgressNotification = (progressToken: ProgressToken, { progress, message }: Progress) => ({
  method: 'notifications/progress' as const,
  params: { progressToken, progress, message },
});
