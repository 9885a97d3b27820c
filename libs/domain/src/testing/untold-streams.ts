import type { Delta, RecordedFact } from '@rondo/contract';
import { listStoredTexts, toStream } from '../run/open-streams';

/**
 * The streams of which a reader, who applies deltas and facts, ends with something else than the log has: not stored
 * and not withdrawn, or stored with another text (I13).
 */
export function untoldStreams(log: readonly RecordedFact[], deltas: readonly Delta[]): string[] {
  const shown = new Map<string, string>();
  for (const { type, streamId, text } of deltas) {
    const stream = toStream({ type, stream_id: streamId });
    shown.set(stream, (shown.get(stream) ?? '') + text);
  }
  const stored = new Map(log.flatMap(listStoredTexts).map((text) => [toStream(text), text.text]));
  const planned = log.flatMap((fact) => (fact.type === 'tool.planned' ? [fact.data.tool_call.id] : []));
  const withdrawn = log.flatMap((fact) => (fact.type === 'iteration.restarted' ? fact.data.withdrawn_stream_ids : []));
  const settled = new Set<string>([...planned, ...withdrawn]);
  const untold = [...shown].filter(
    ([stream, text]) => stored.get(stream) !== text && !settled.has(stream.split(' ')[0] ?? ''),
  );
  const unseen = [...stored.keys()].filter((stream) => !shown.has(stream));
  return [...untold.map(([stream]) => stream), ...unseen];
}
