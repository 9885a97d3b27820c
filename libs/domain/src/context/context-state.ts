import {
  type CompactionId,
  type Coverage,
  type Message,
  type MessageId,
  type NewFact,
  coverage,
} from '@rondo/contract';

/** A compaction that was asked for and has not ended. */
export interface OpenCompaction {
  readonly id: CompactionId;
  readonly covers: Coverage;
  readonly tokensBefore: number;
}

/** Texts of messages up to `through` are cut, and a stretch may be left out altogether. */
export interface Compression {
  readonly through: MessageId;
  readonly keepCharacters: number;
  readonly omitted: Coverage | undefined;
}

/** How the conversation was made smaller so far. Together with the conversation it says what is sent, to the byte. */
export interface ContextState {
  /** Stands for the messages that it covers. */
  readonly summary: { readonly id: MessageId; readonly covers: Coverage } | undefined;
  readonly compression: Compression | undefined;
  /** The newest message when this was last changed: a thought up to here was thought after words that are sent no more. */
  readonly changedAt: MessageId | undefined;
  /** The iteration after which this was last tried: once is enough for each (R36). */
  readonly compactedIn: number;
  /** Compactions in a row that failed. */
  readonly failures: number;
  /** What a provider refused as too long, in tokens as we count them. */
  readonly refusedTokens: number | undefined;
}

export const wholeConversation: ContextState = {
  summary: undefined,
  compression: undefined,
  changedAt: undefined,
  compactedIn: -1,
  failures: 0,
  refusedTokens: undefined,
};

export type Compaction = Extract<NewFact, { type: 'context.compacted' }>['data'];

/** Where a change of the context happens: after which iteration, and after which message. */
export interface CompactionMoment {
  readonly compactedIn: number;
  readonly changedAt: MessageId | undefined;
}

/** The context after it was made smaller. A summary takes the whole texts back in: what it does not cover is read anew. */
export function compacted(context: ContextState, data: Compaction, moment: CompactionMoment): ContextState {
  switch (data.method) {
    case 'summary': {
      const summary = { id: data.message_id, covers: data.covers };
      return { ...context, ...moment, summary, compression: undefined, failures: 0 };
    }
    case 'compression': {
      const { through_message_id: through, keep_characters: keepCharacters, omitted, reason } = data;
      const refusedTokens = reason === 'overflow' ? data.tokens_before : context.refusedTokens;
      return { ...context, ...moment, compression: { through, keepCharacters, omitted }, refusedTokens };
    }
  }
}

export const notCompacted = (context: ContextState, { compactedIn }: CompactionMoment): ContextState => ({
  ...context,
  compactedIn,
  failures: context.failures + 1,
});

/** A run goes on from the latest summary of the runs before it. */
export function fromEarlier(context: ContextState, earlier: readonly Message[]): ContextState {
  if (context.summary) return context;
  const latest = earlier.findLast(
    ({ type, metadata }) => type === 'summary' && coverage.safeParse(metadata['covers']).success,
  );
  return latest
    ? { ...context, summary: { id: latest.id, covers: coverage.parse(latest.metadata['covers']) } }
    : context;
}
