import {
  type EventId,
  type Message,
  type NewFact,
  type NewId,
  type NewMessage,
  type RecordedFact,
  toShownContent,
} from '@rondo/contract';
import { type Claim, type ClaimedRun, type RunChanges, hasEventJson, runChanges } from '@rondo/domain';

/** Facts of one run on their way into its log. */
export interface Batch {
  readonly claim: Claim;
  /** The `seq` that it follows. A log that has gone on refuses it. Undefined for a writer that has locked the run. */
  readonly after: number | undefined;
  readonly at: string;
  readonly facts: readonly StampedFact[];
  readonly changes: RunChanges;
}

interface StampedFact {
  readonly fact: NewFact;
  readonly id: EventId;
  /** The fact's `data` as JSON. That of a message is split where the statement inserts the message's `seq`. */
  readonly json: string | MessageJson;
}

export interface MessageJson {
  readonly beforeSeq: string;
  readonly afterSeq: string;
  readonly message: NewMessage;
  readonly content: string;
  readonly metadata: string;
  /** `afterSeq` as it is shown, where that differs: what only a provider may read stays in the database. */
  readonly shownAfterSeq: string | undefined;
}

export interface NewFacts {
  readonly facts: readonly NewFact[];
  readonly newId: NewId;
}

/** Where a log ends, as far as a writer knows. `seq` is undefined where it has locked the run, so that no other process writes. */
export interface LogEnd {
  readonly seq: number | undefined;
  readonly at: string;
}

/** Its time is now, but not before the end of the log: the clock of the process that wrote that may be ahead. */
export function toBatch(claim: Claim, { facts, newId }: NewFacts, end?: LogEnd): Batch {
  const now = new Date().toISOString();
  const at = end && end.at > now ? end.at : now;
  const stamped = facts.map((fact) => ({ fact, id: newEventId(newId), json: toJson(fact, at) }));
  return { claim, after: end?.seq, at, facts: stamped, changes: runChanges(facts, at) };
}

/** Where the log ended that a claim came with. Undefined for a claim without one. */
export function toLogEnd({ run, log }: Claim & Partial<Pick<ClaimedRun, 'run' | 'log'>>): LogEnd | undefined {
  const last = log?.at(-1);
  return last && run && { seq: Math.max(last.seq, run.last_seq), at: last.at };
}

const newEventId = (newId: NewId): EventId => `evt_${newId()}` as EventId; // generated here, so it needs no parsing

const toJson = (fact: NewFact, at: string): StampedFact['json'] =>
  fact.type === 'message.created' ? messageJson(fact.data.message, at) : JSON.stringify(fact.data);

/** Ids and constants need no JSON escapes. */
function messageJson(message: NewMessage, at: string): MessageJson {
  const { id, thread_id, run_id, iteration, type, is_llm_message } = message;
  const content = JSON.stringify(message.content);
  const metadata = JSON.stringify(message.metadata);
  const shown = toShownContent(message.content);
  const run = run_id === null ? 'null' : `"${run_id}"`;
  const after = (blocks: string) =>
    `,"type":"${type}","is_llm_message":${is_llm_message},"content":${blocks},"metadata":${metadata},"created_at":"${at}"}}`;
  return {
    beforeSeq: `{"message":{"id":"${id}","thread_id":"${thread_id}","run_id":${run},"iteration":${iteration},"seq":`,
    afterSeq: after(content),
    message,
    content,
    metadata,
    shownAfterSeq: shown === message.content ? undefined : after(JSON.stringify(shown)),
  };
}

/** The approximate number of bytes that it adds to the statement. A message is written twice: as a row and as a fact. */
export const measureLength = ({ facts }: Batch): number =>
  facts.reduce((sum, { json }) => sum + (typeof json === 'string' ? json.length : 2 * json.afterSeq.length), 0);

/** The last `seq` of the run and of its thread before the batch. */
export interface LogPosition {
  readonly lastSeq: number;
  readonly lastMessageSeq: number;
}

/** The facts as they were recorded. Their JSON equals, byte for byte, what is shown of the log (`shownEvent`). */
export function toRecordedFacts({ claim, at, facts }: Batch, { lastSeq, lastMessageSeq }: LogPosition): RecordedFact[] {
  let messages = 0;
  return facts.map(({ fact, id, json }, index) => {
    if (fact.type === 'message.created') messages += 1;
    const messageSeq = lastMessageSeq + messages;
    const data =
      fact.type === 'message.created' ? { message: placeMessage(fact.data.message, messageSeq, at) } : fact.data;
    const recorded = {
      id,
      v: 1,
      seq: lastSeq + index + 1,
      type: fact.type,
      run_id: claim.runId,
      thread_id: claim.threadId,
      iteration: fact.iteration,
      epoch: claim.epoch,
      at,
      data,
    } as RecordedFact; // type and data come from one fact
    const dataJson =
      typeof json === 'string' ? json : `${json.beforeSeq}${messageSeq}${json.shownAfterSeq ?? json.afterSeq}`;
    return hasEventJson(recorded, jsonAround(recorded, dataJson));
  });
}

/** Reuses the JSON of `data` that was stored. The other fields need no JSON escapes. */
const jsonAround = (fact: RecordedFact, data: string): string =>
  `{"id":"${fact.id}","v":1,"seq":${fact.seq},"type":"${fact.type}","run_id":"${fact.run_id}","thread_id":"${fact.thread_id}",` +
  `"iteration":${fact.iteration},"epoch":${fact.epoch},"at":"${fact.at}","data":${data}}`;

const placeMessage = (message: NewMessage, seq: number, at: string): Message => ({
  id: message.id,
  thread_id: message.thread_id,
  run_id: message.run_id,
  iteration: message.iteration,
  seq,
  type: message.type,
  is_llm_message: message.is_llm_message,
  content: message.content,
  metadata: message.metadata,
  created_at: at,
});
