import { type DeltaEvent, type RecordedFact, deltaTextKey } from '@rondo/contract';

/** The key of a stream. A message's text and its reasoning are two streams under one id, so the key has id and type. */
export const toStream = ({ type, stream_id }: Pick<DeltaEvent, 'type' | 'stream_id'>): string => `${stream_id} ${type}`;

export function deltaText(delta: DeltaEvent): string {
  const text = delta.data[deltaTextKey(delta.type)];
  return typeof text === 'string' ? text : '';
}

/** The same delta with another text and offset. Its content differs, so it gets an id of its own. */
export const withText = (
  delta: DeltaEvent,
  { id, offset, text }: { id: DeltaEvent['id']; offset: number; text: string },
): DeltaEvent => ({ ...delta, id, offset, data: { ...delta.data, [deltaTextKey(delta.type)]: text } });

/** The keys of the streams that a fact supersedes or withdraws. Deltas of them that arrive later are dropped. */
export function streamsClosedBy(fact: RecordedFact): string[] {
  switch (fact.type) {
    case 'message.created':
      return bothStreams(fact.data.message.id);
    case 'iteration.restarted':
      return fact.data.withdrawn_stream_ids.flatMap((id) => [...bothStreams(id), callStream(id), outputStream(id)]);
    case 'tool.planned':
      return [callStream(fact.data.tool_call.id)];
    case 'tool.completed':
    case 'tool.failed':
    case 'tool.unknown':
      return [outputStream(fact.data.tool_call_id)];
    case 'run.created':
    case 'budget.raised':
    case 'run.forked':
    case 'run.started':
    case 'mcp.connected':
    case 'mcp.skipped':
    case 'workspace.preparing':
    case 'workspace.prepared':
    case 'workspace.rewinding':
    case 'workspace.rewound':
    case 'database.replaced':
    case 'tool.started':
    case 'tool.resolved':
    case 'tool.input_requested':
    case 'tool.input_given':
    case 'tool.task_created':
    case 'secret.requested':
    case 'secret.decided':
    case 'approval.requested':
    case 'approval.decided':
    case 'context.compaction_started':
    case 'context.compacted':
    case 'context.compaction_failed':
    case 'run.waiting':
    case 'run.resumed':
    case 'run.stop_requested':
    case 'run.stopped':
    case 'run.completed':
    case 'run.failed':
    case 'iteration.started':
    case 'iteration.completed':
    case 'model.retried':
    case 'model.fell_back':
    case 'browser.state':
    case 'usage.recorded':
      return [];
  }
}

export interface StreamText {
  readonly type: 'message.delta' | 'reasoning.delta';
  readonly stream_id: string;
  readonly text: string;
}

/** The stored texts that the deltas of a reply add up to (I13). Empty for a fact that stores no reply. */
export function listStoredTexts(fact: RecordedFact): StreamText[] {
  if (fact.type !== 'message.created' || fact.data.message.type !== 'assistant') return [];
  const { id: stream_id, content } = fact.data.message;
  const joinTexts = (type: 'text' | 'reasoning') =>
    content.map((block) => (block.type === type ? block.text : '')).join('');
  const texts: StreamText[] = [
    { type: 'reasoning.delta', stream_id, text: joinTexts('reasoning') },
    { type: 'message.delta', stream_id, text: joinTexts('text') },
  ];
  return texts.filter(({ text }) => text !== '');
}

/** The keys of the streams that restart after a fact: a call that is sent again prints its output from the beginning. */
export const streamsReopenedBy = (fact: RecordedFact): string[] =>
  fact.type === 'tool.started' ? [outputStream(fact.data.tool_call_id)] : [];

const callStream = (stream_id: string) => toStream({ type: 'tool.call_delta', stream_id });
const outputStream = (stream_id: string) => toStream({ type: 'tool.output', stream_id });
const bothStreams = (stream_id: string) => [
  toStream({ type: 'message.delta', stream_id }),
  toStream({ type: 'reasoning.delta', stream_id }),
];
