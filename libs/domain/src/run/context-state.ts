import {
  type CompactionId,
  type Coverage,
  type Message,
  type MessageId,
  type NewFact,
  coverage,
} from '@rondo/contract';

/** A compaction that was requested and has not ended. */
export interface OpenCompaction {
  readonly id: CompactionId;
  readonly covers: Coverage;
  readonly tokensBefore: number;
}

interface CompactionStart {
  readonly compaction_id: CompactionId;
  readonly covers: Coverage;
  readonly tokens_before: number;
}

export const openCompaction = ({ compaction_id: id, covers, tokens_before }: CompactionStart): OpenCompaction => ({
  id,
  covers,
  tokensBefore: tokens_before,
});

/** Texts of messages up to `through` are shortened, and a range may be omitted. */
export interface Compression {
  readonly through: MessageId;
  readonly keepCharacters: number;
  readonly omitted: Coverage | undefined;
}

/** How the conversation was reduced so far. With the conversation, it determines what is sent, byte for byte. */
export interface ContextState {
  /** Sent in place of the messages that it covers. */
  readonly summary: { readonly id: MessageId; readonly covers: Coverage } | undefined;
  readonly compression: Compression | undefined;
  /** The newest message at the last change. Reasoning up to here followed messages that are no longer sent as they were. */
  readonly changedAt: MessageId | undefined;
  /** The iteration after which compaction was last tried; it is tried once per iteration. */
  readonly compactedIn: number;
  /** Compactions in a row that failed. */
  readonly failures: number;
  /** The size of a request that the provider refused as too long, by our own count. */
  readonly refusedTokens: number | undefined;
}

export const initialContext: ContextState = {
  summary: undefined,
  compression: undefined,
  changedAt: undefined,
  compactedIn: -1,
  failures: 0,
  refusedTokens: undefined,
};

export type Compaction = Extract<NewFact, { type: 'context.compacted' }>['data'];

/** When a compaction was tried: after which iteration and which message. */
export type CompactionPoint = Pick<ContextState, 'compactedIn' | 'changedAt'>;

/** The context after a compaction. A summary ends a compression: messages that it does not cover are sent whole again. */
export function compactContext(context: ContextState, data: Compaction, point: CompactionPoint): ContextState {
  switch (data.method) {
    case 'summary': {
      const summary = { id: data.message_id, covers: data.covers };
      return { ...context, ...point, summary, compression: undefined, failures: 0 };
    }
    case 'compression': {
      const { through_message_id: through, keep_characters: keepCharacters, omitted, reason } = data;
      const refusedTokens = reason === 'overflow' ? data.tokens_before : context.refusedTokens;
      return { ...context, ...point, compression: { through, keepCharacters, omitted }, refusedTokens };
    }
  }
}

export const notCompacted = (context: ContextState, { compactedIn }: CompactionPoint): ContextState => ({
  ...context,
  compactedIn,
  failures: context.failures + 1,
});

/** A run without a summary of its own starts from the latest summary of the thread's earlier runs. */
export function withEarlierSummary(context: ContextState, earlier: readonly Message[]): ContextState {
  if (context.summary) return context;
  const latest = earlier.findLast(
    ({ type, metadata }) => type === 'summary' && coverage.safeParse(metadata['covers']).success,
  );
  return latest
    ? { ...context, summary: { id: latest.id, covers: coverage.parse(latest.metadata['covers']) } }
    : context;
}
