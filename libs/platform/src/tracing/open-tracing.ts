import type { Logger } from 'pino';
import { type Tracing, tracingOff } from './tracing';
import { type TracingSettings, tracesUrl } from './tracing-variables';

/** The tracing of a process. Without an endpoint it is off, and the SDK is not even loaded. */
export async function openTracing(
  settings: TracingSettings,
  about: { readonly service: string; readonly log: Logger },
): Promise<Tracing> {
  const url = tracesUrl(settings);
  if (url === undefined) return tracingOff;
  const { OtlpTracing } = await import('./otlp-tracing.js');
  return new OtlpTracing(url, settings, about);
}
