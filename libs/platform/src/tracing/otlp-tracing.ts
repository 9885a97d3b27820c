import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, type Tracer, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { OutboundProxy } from '../outbound/outbound-proxy';
import { createProxyAgents } from '../outbound/tunnel';
import { ReportingExporter } from './reporting-exporter';
import type { Span, SpanAttributes, SpanOrder, TracePlace, Tracing } from './tracing';
import { type SamplerName, type TracingSettings, toPairs } from './tracing-variables';

/** Spans of a busy process are sent before its queue is full, and those of a killed one are at most this old. */
const sendEveryMs = 1_000;
const requestTimeoutMs = 5_000;
const closeTimeoutMs = 2_000;
const queuedSpans = 8_192;
const longestValue = 32 * 1024;

const kinds = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** Sends spans by OTLP over HTTP, as JSON. The only module that knows OpenTelemetry's packages, with those it imports. */
export class OtlpTracing implements Tracing {
  readonly isOn = true;
  readonly showsContent: boolean;
  private readonly ids = new GivenIds();
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;

  constructor(url: string, settings: TracingSettings, { service, log }: { service: string; log: Logger }) {
    this.showsContent = settings.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT;
    const headers = toPairs(settings.OTEL_EXPORTER_OTLP_HEADERS);
    const proxy = OutboundProxy.from(settings);
    const agents = proxy && createProxyAgents(proxy);
    const exporter = new OTLPTraceExporter({
      ...{ url, headers, timeoutMillis: requestTimeoutMs },
      ...(agents && {
        httpAgentOptions: (scheme) => (scheme.startsWith('https') ? agents.httpsAgent : agents.httpAgent),
      }),
    });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({
        'service.name': service,
        'service.namespace': 'rondo',
        'service.instance.id': `${service}-${process.pid}-${Date.now().toString(36)}`,
        'process.pid': process.pid,
        ...toPairs(settings.OTEL_RESOURCE_ATTRIBUTES),
      }),
      sampler: toSampler(settings),
      idGenerator: this.ids,
      spanLimits: { attributeValueLengthLimit: longestValue },
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: new ReportingExporter(exporter, log),
          scheduledDelayMillis: sendEveryMs,
          maxQueueSize: queuedSpans,
        }),
      ],
    });
    this.tracer = this.provider.getTracer('rondo');
    log.info({ collector: new URL(url).origin, showsContent: this.showsContent }, 'tracing is on');
  }

  begin({ name, kind, parent, spanId, startedAt, attributes }: SpanOrder): Span | undefined {
    this.ids.next = spanId;
    const options = { kind: kinds[kind], ...(startedAt !== undefined && { startTime: startedAt }) };
    const span = this.tracer.startSpan(name, { ...options, attributes: present(attributes) }, toContext(parent));
    if (!span.isRecording()) return undefined;
    const place = span.spanContext();
    return {
      place: { traceId: place.traceId, spanId: place.spanId },
      end: ({ at, attributes: more, error } = {}) => {
        span.setAttributes(present(more));
        if (error !== undefined) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
        span.end(at);
      },
    };
  }

  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeTimeoutMs);
    });
    await Promise.race([this.provider.shutdown().catch(() => undefined), timeout]); // what failed was logged
    clearTimeout(timer);
  }
}

/** Gives the next span the id that was asked for. A span begins in one turn, so no other one can take it. */
class GivenIds implements IdGenerator {
  next: string | undefined;
  private readonly random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.random.generateTraceId();
  }

  generateSpanId(): string {
    const given = this.next;
    this.next = undefined;
    return given ?? this.random.generateSpanId();
  }
}

function toContext(parent: (TracePlace & { readonly isSampled?: boolean }) | undefined) {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled = true } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

const present = (attributes: SpanAttributes = {}) =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [[name, Array.isArray(value) ? [...(value as readonly string[])] : (value as string | number | boolean)]];
    }),
  );

const always = new AlwaysOnSampler();
const never = new AlwaysOffSampler();
const toShare = (ratio: number) => new TraceIdRatioBasedSampler(ratio);
const unlessParentDecides = (root: Sampler) => new ParentBasedSampler({ root });

const samplers: Record<SamplerName, (ratio: number) => Sampler> = {
  always_on: () => always,
  always_off: () => never,
  traceidratio: toShare,
  parentbased_always_on: () => unlessParentDecides(always),
  parentbased_always_off: () => unlessParentDecides(never),
  parentbased_traceidratio: (ratio) => unlessParentDecides(toShare(ratio)),
};

/** Services without sampler variables decide nothing: they record whatever belongs to a trace that reaches them. */
function toSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio = 1 }: TracingSettings): Sampler {
  return name === undefined ? always : samplers[name](ratio);
}
