import type { SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

type Spans = Parameters<SpanExporter['export']>[0];
type OnResult = Parameters<SpanExporter['export']>[1];

/** A collector that is away would fill the log: it is named once in this time. */
const warnEveryMs = 60_000;

/** Logs that spans were lost; nothing else is to be done about it. */
export class ReportingExporter implements SpanExporter {
  private lost = 0;
  private warnedAt = -Infinity;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly log: Pick<Logger, 'warn'>,
  ) {}

  export(spans: Spans, onResult: OnResult): void {
    this.exporter.export(spans, (result) => {
      if (result.error) this.note(spans.length, result.error);
      onResult(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private note(spans: number, { message }: Error): void {
    this.lost += spans;
    if (performance.now() - this.warnedAt < warnEveryMs) return;
    this.log.warn({ spans: this.lost, reason: message }, 'spans were not accepted by the collector, and dropped');
    this.lost = 0;
    this.warnedAt = performance.now();
  }
}
