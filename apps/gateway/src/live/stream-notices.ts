import type { EventId, RunEvent } from '@rondo/contract';
import type { EventPage, LogGap, RunSnapshot } from '@rondo/persistence';

type Envelope = Pick<RunEvent, 'id' | 'v' | 'run_id' | 'thread_id' | 'iteration' | 'epoch' | 'at'> & {
  readonly seq: null;
};

/** What a stream sends where retention has removed facts: which ones, and the state of the run in their place. */
export type StreamNotice =
  | (Envelope & { readonly type: 'stream.gap'; readonly data: LogGap })
  | (Envelope & { readonly type: 'stream.snapshot'; readonly data: RunSnapshot });

/** Everything that a subscriber is sent. */
export type SubscriberEvent = RunEvent | StreamNotice;

export const isNotice = (event: SubscriberEvent): event is StreamNotice =>
  event.type === 'stream.gap' || event.type === 'stream.snapshot';

/** The last fact that a notice stands for. */
export const coveredSeq = (notice: StreamNotice): number =>
  notice.type === 'stream.gap' ? notice.data.to : notice.data.through_seq;

/** The gap first, then the snapshot; none where nothing is missing. */
export function listNotices({ gap, snapshot }: EventPage, newEventId: () => EventId): StreamNotice[] {
  if (!gap || !snapshot) return [];

  const { id: run_id, thread_id, iteration, epoch } = snapshot.run;
  const at = new Date().toISOString();
  const envelope = (type: StreamNotice['type']) =>
    ({ id: newEventId(), v: 1, seq: null, type, run_id, thread_id, iteration, epoch, at }) as const;
  return [
    { ...envelope('stream.gap'), type: 'stream.gap', data: gap },
    { ...envelope('stream.snapshot'), type: 'stream.snapshot', data: snapshot },
  ];
}
