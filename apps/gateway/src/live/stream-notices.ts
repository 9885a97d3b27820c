import type { EventId, Run, RunEvent } from '@rondo/contract';
import type { EventPage, LogGap, RunSnapshot } from '@rondo/persistence';

type Envelope = Pick<RunEvent, 'id' | 'v' | 'run_id' | 'thread_id' | 'iteration' | 'epoch' | 'at'> & {
  readonly seq: null;
};

/**
 * What a stream sends where retention has removed facts: which ones, and the state of the run in their place. And where the
 * reader has facts that were lost with a database that was replaced.
 */
export type StreamNotice =
  | (Envelope & { readonly type: 'stream.gap'; readonly data: LogGap })
  | (Envelope & { readonly type: 'stream.snapshot'; readonly data: RunSnapshot })
  | StreamRewound;

export type StreamRewound = Envelope & { readonly type: 'stream.rewound'; readonly data: { readonly from: number } };

/** Everything that a subscriber is sent. */
export type SubscriberEvent = RunEvent | StreamNotice;

export const isNotice = (event: SubscriberEvent): event is StreamNotice =>
  event.type === 'stream.gap' || event.type === 'stream.snapshot' || event.type === 'stream.rewound';

/** The last fact that a reader has, or need not wait for, after a notice. */
export function readCoveredSeq(notice: StreamNotice): number {
  if (notice.type === 'stream.rewound') return notice.data.from - 1;
  return notice.type === 'stream.gap' ? notice.data.to : notice.data.through_seq;
}

/** Tells a reader that what it has from this seq on is not in the log. */
export const createRewound = (run: Run, from: number, id: EventId): StreamRewound => ({
  ...{ id, v: 1, seq: null, type: 'stream.rewound', run_id: run.id, thread_id: run.thread_id },
  ...{ iteration: run.iteration, epoch: run.epoch, at: new Date().toISOString(), data: { from } },
});

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
