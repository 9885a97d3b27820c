/** A value of a span. Lists hold texts only. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Where a span hangs: its trace, and the span above it. Both are lower-case hex, of 32 and 16 digits. */
export interface TracePlace {
  readonly traceId: string;
  readonly spanId: string;
}

/** As a caller names it; its flag says whether the caller records its own spans. */
export interface CallersPlace extends TracePlace {
  readonly isSampled: boolean;
}

export interface SpanOrder {
  readonly name: string;
  readonly kind: 'internal' | 'client' | 'producer' | 'consumer';
  /** Without one it begins a trace. A place without a flag belongs to a trace that is recorded. */
  readonly parent?: TracePlace | CallersPlace | undefined;
  /** Where others can name the span before, or without, its being sent. Otherwise it gets a random one. */
  readonly spanId?: string;
  /** Milliseconds since 1970. */
  readonly startedAt?: number;
  readonly attributes?: SpanAttributes;
}

/** A span that is recorded. It is sent after its end, and not at all if it never ends. */
export interface Span {
  readonly place: TracePlace;
  /** `error` is a code, never a text that may quote a secret. */
  end(ending?: { readonly at?: number; readonly attributes?: SpanAttributes; readonly error?: string }): void;
}

/** Records spans and sends them to a collector. No method throws or waits, whatever the collector does. */
export interface Tracing {
  /** Off: nothing is loaded, and every call returns at once. */
  readonly isOn: boolean;
  /** Whether spans may hold what users and models wrote. */
  readonly showsContent: boolean;
  /** Undefined if the span is not recorded. */
  begin(order: SpanOrder): Span | undefined;
  /** Sends what is left, within two seconds. */
  close(): Promise<void>;
}

export const tracingOff: Tracing = {
  isOn: false,
  showsContent: false,
  begin: () => undefined,
  close: () => Promise.resolve(),
};

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const sampledFlag = 1;

/**
 * Reads a `traceparent` header as W3C Trace Context level 1 says: later versions may be longer, and a header that is not
 * well formed is ignored, as if there were none.
 */
export function placeOfTraceparent(header: string | undefined): CallersPlace | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(header ?? '') ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag };
}

/** The header for what is called from a recorded span. */
export const toTraceparent = ({ traceId, spanId }: TracePlace): string => `00-${traceId}-${spanId}-01`;
