import {
  type DestinationStream,
  type LevelWithSilent,
  type Logger,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import type { LoggerService } from '@nestjs/common';
import { LruCache } from './lru-cache';

export type { Logger } from 'pino';

interface LoggerOptions {
  /** The service's name, in every line. */
  readonly name: string;
  readonly level?: LevelWithSilent;
  /** Standard output unless given. */
  readonly destination?: DestinationStream;
}

const secretKeys = ['authorization', 'cookie', 'password', 'token', 'apiKey', 'api_key', 'key'];

/**
 * JSON lines with the service's name. Keys that hold secrets are blanked at the top and one level down (I12).
 * Bind a run once with `log.child({ runId, threadId })` and pass the child on. Lines about a run that is traced name its trace.
 */
export function createLogger({ name, level = 'info', destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { service: name },
    timestamp: stdTimeFunctions.isoTime,
    mixin: traceOfLine,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: stdSerializers.err, err: stdSerializers.err },
    redact: {
      paths: [...secretKeys, ...secretKeys.map((key) => `*.${key}`), 'req.headers.authorization', 'req.headers.cookie'],
      censor: '[redacted]',
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Writes Nest's own log lines, and those of code that uses Nest's `Logger`, as our JSON lines. */
export function nestLogger(log: Logger): LoggerService {
  const at =
    (level: 'fatal' | 'warn' | 'info' | 'debug' | 'trace') =>
    (message: unknown, ...rest: unknown[]) =>
      log[level]({ context: rest.at(-1), ...toFields(message) });

  return {
    log: at('info'),
    warn: at('warn'),
    fatal: at('fatal'),
    debug: at('debug'),
    verbose: at('trace'),
    // Nest calls error(message, stack, context), error(message, context) and error(error, context).
    error: (message: unknown, ...rest: unknown[]) =>
      log.error({
        context: rest.at(-1),
        ...(rest.length > 1 && { stack: rest[0] }),
        ...toFields(message),
      }),
  };
}

function toFields(message: unknown): object {
  if (message instanceof Error) return { error: message, msg: message.message };
  if (typeof message === 'object' && message !== null) return message;
  return { msg: String(message) };
}

const rememberedRuns = 10_000;

/** The traces of the runs that this process has lately worked on. Empty while tracing is off. */
const traces = new LruCache<string, string>(rememberedRuns);
let areSome = false;

/** From now on, log lines with this `runId` have its `trace_id`. */
export function noteTracedRun(runId: string, traceId: string): void {
  traces.set(runId, traceId);
  areSome = true;
}

/** What the logger adds to a line: a new object each time, since it copies the line's fields into it. */
function traceOfLine(fields: object): object {
  if (!areSome || !('runId' in fields) || typeof fields.runId !== 'string') return {};
  const trace_id = traces.get(fields.runId);
  return trace_id === undefined ? {} : { trace_id };
}
