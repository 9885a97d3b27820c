import type { Run } from '@rondo/client';
import type { FormerQuestion } from '@rondo/react';
import { createContext, useContext } from 'react';

export type ChildRun = NonNullable<Run['children']>[number];

/** What the items of a timeline lead to, beyond their rows. */
export interface TimelineLinks {
  /** The thread, whose workspace has the files that calls name. */
  readonly threadId?: string | undefined;
  /** The runs that calls of `run_agent` have started, by the id of the call. */
  readonly children: ReadonlyMap<string, ChildRun>;
  /** What edited questions said before, newest last, by the id of the message. */
  readonly former: ReadonlyMap<string, readonly FormerQuestion[]>;
  /** Begins a fork after this fact. Absent: the reader may not. */
  readonly fork?: (atSeq: number, iteration: number) => void;
  /** Reads an image that Rondo keeps. Absent: with the session. */
  readonly readImage?: (sha256: string, signal: AbortSignal) => Promise<Blob>;
  /** The question that can be asked anew, and what begins that. */
  readonly editable?: EditableQuestion | undefined;
}

interface EditableQuestion {
  readonly messageId: string;
  readonly edit: (text: string) => void;
  /** Asks the same once more. Absent where no run began with it. */
  readonly retry?: (() => void) | undefined;
}

export const noLinks: TimelineLinks = { children: new Map(), former: new Map() };

export const TimelineLinksContext = createContext<TimelineLinks>(noLinks);

export const useTimelineLinks = (): TimelineLinks => useContext(TimelineLinksContext);
