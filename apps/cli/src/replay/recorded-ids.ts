import type { CompactionId, MessageId, ModelCallId, RecordedFact } from '@rondo/contract';
import type { IdGenerator } from '@rondo/domain';

/** Gives each message and model call of the loop the id that it had. What the recording lacks gets an id of its own. */
export class RecordedIds implements IdGenerator {
  private readonly messages: MessageId[];
  private readonly modelCalls: ModelCallId[];
  private made = 0;

  /** `from` is the index of the first fact of the activation. */
  constructor(facts: readonly RecordedFact[], from: number) {
    const known = new Set(facts.slice(0, from).flatMap(listMessageIds));
    this.messages = [...new Set(facts.slice(from).flatMap(listMessageIds))].filter((id) => !known.has(id));
    this.modelCalls = facts
      .slice(from)
      .flatMap((fact) => (fact.type === 'usage.recorded' ? [fact.data.model_call_id] : []));
  }

  messageId(): MessageId {
    return this.messages.shift() ?? (`msg_new${++this.made}` as MessageId); // letters and digits after the prefix
  }

  modelCallId(): ModelCallId {
    return this.modelCalls.shift() ?? (`mdl_new${++this.made}` as ModelCallId); // as above
  }

  compactionId(): CompactionId {
    return `cmp_new${++this.made}` as CompactionId; // as above
  }
}

/** Ids that the loop asked for. Those of the parts of a reply follow from its own, and users' messages are not the loop's. */
function listMessageIds({ type, data }: RecordedFact): MessageId[] {
  if (type === 'message.created') {
    const { type: kind, id } = data.message;
    return kind === 'user' || kind === 'assistant' ? [] : [id];
  }
  if (type === 'tool.unknown') return data.message_id ? [data.message_id] : [];
  return type === 'iteration.started' ||
    type === 'iteration.restarted' ||
    type === 'tool.completed' ||
    type === 'tool.failed'
    ? [data.message_id]
    : [];
}
