import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** As OTLP numbers them: 1 internal, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
}

interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly AnyValue[] };
}

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code: number };
}

/** How the receiver treats requests: it takes them, refuses them, or never answers. */
export type Manner = 'accepts' | 'refuses' | 'hangs';

/** A server that receives spans over OTLP/HTTP as JSON, as a collector does. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  /** What was sent, unparsed. */
  text = '';
  manner: Manner = 'accepts';
  requests = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<OtlpReceiver> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo; // a server that listens on TCP has an address of this form
    const receiver = new OtlpReceiver(server, `http://127.0.0.1:${port}`);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void receiver.receive(request, response);
    });
    return receiver;
  }

  ofTrace(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  /** Resolves with the spans of a trace once they are as wanted. */
  async trace(traceId: string, isWhole: (spans: readonly ReceivedSpan[]) => boolean): Promise<ReceivedSpan[]> {
    for (const until = Date.now() + 60_000; Date.now() < until; await sleep(50))
      if (isWhole(this.ofTrace(traceId))) return this.ofTrace(traceId);
    throw new Error(`the trace is not whole: ${JSON.stringify(this.ofTrace(traceId).map(({ name }) => name))}`);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests += 1;
    this.headers.push(request.headers);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (this.manner === 'hangs') return;
    if (this.manner === 'refuses') {
      response.writeHead(503).end();
      return;
    }
    const text = Buffer.concat(pieces).toString();
    this.text += text;
    this.spans.push(...spansIn(JSON.parse(text) as Body));
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  }
}

const spansIn = ({ resourceSpans }: Body): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(createAttributes(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        kind: span.kind,
        startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
        endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
        attributes: createAttributes(span.attributes),
        failed: span.status.code === 2,
      })),
    );
  });

const createAttributes = (list: readonly KeyValue[]): Record<string, unknown> =>
  Object.fromEntries(list.map(({ key, value }) => [key, plain(value)]));

function plain(value: AnyValue): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(plain);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
