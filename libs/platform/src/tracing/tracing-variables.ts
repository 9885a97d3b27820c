import { z } from 'zod';

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be a URL with http or https' });

/** Variables of services that send spans, with the names that OpenTelemetry gives them. */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional().meta({
    description:
      'The collector that traces are sent to, over OTLP/HTTP: `/v1/traces` is added. It switches tracing on ([tracing](tracing.md)).',
    example: 'http://127.0.0.1:4318',
    otherwise: 'no traces',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional().meta({
    description: 'The same as a whole URL, to which nothing is added.',
    example: 'https://collector.example/v1/traces',
    otherwise: 'that of `OTEL_EXPORTER_OTLP_ENDPOINT`',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .regex(/^[^=,\s]+=[^,]*(,\s*[^=,\s]+=[^,]*)*$/, 'must be name=value pairs, separated by commas')
    .optional()
    .meta({
      description: 'Headers of the requests to the collector, separated by commas. They may hold a secret.',
      example: 'authorization=Bearer%20token',
      otherwise: 'none',
    }),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .regex(/^[^=,\s]+=[^,]*(,\s*[^=,\s]+=[^,]*)*$/, 'must be name=value pairs, separated by commas')
    .optional()
    .meta({
      description: 'What every span says about its process, separated by commas.',
      example: 'deployment.environment.name=production,k8s.pod.name=worker-0',
      otherwise: 'its service and its process',
    }),
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: z.stringbool().prefault('0').meta({
    description:
      '`1` adds what users, models and tools wrote to the spans, and the arguments of tool calls. Everyone who may read the traces can then read that.',
  }),
};

const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplerNames)[number];

/** Of the service that decides whether a run is traced. */
export const samplingVariables = {
  OTEL_TRACES_SAMPLER: z
    .enum(samplerNames)
    .default('parentbased_always_on')
    .describe(
      'Which runs are traced; it is decided once, when the run is created. `parentbased_…`: a caller’s `traceparent` says so, and without one the rest of the name.',
    ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('The share of runs that `traceidratio` and `parentbased_traceidratio` trace: `0.1` is one in ten.'),
};

/** What `openTracing` uses of a service's configuration. */
export interface TracingSettings {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_HEADERS?: string | undefined;
  readonly OTEL_RESOURCE_ATTRIBUTES?: string | undefined;
  readonly OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: boolean;
  readonly OTEL_TRACES_SAMPLER?: SamplerName | undefined;
  readonly OTEL_TRACES_SAMPLER_ARG?: number | undefined;
  readonly HTTPS_PROXY?: string | undefined;
  readonly HTTP_PROXY?: string | undefined;
  readonly NO_PROXY?: string | undefined;
}

/** Where spans are sent; undefined if tracing is off. */
export function tracesUrl({
  OTEL_EXPORTER_OTLP_ENDPOINT: base,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole,
}: TracingSettings): string | undefined {
  return whole ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`);
}

/** `a=b,c=d`; values are percent-decoded, as the standard says. */
export const toPairs = (text: string | undefined): Record<string, string> =>
  Object.fromEntries(
    (text ?? '')
      .split(',')
      .filter((pair) => pair.includes('='))
      .map((pair) => {
        const at = pair.indexOf('=');
        return [pair.slice(0, at).trim(), decode(pair.slice(at + 1).trim())];
      }),
  );

/** A value that is not percent-encoded stays as it is. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
