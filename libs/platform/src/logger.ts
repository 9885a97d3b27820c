import {
  type DestinationStream,
  type LevelWithSilent,
  type Logger,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import { traceOfLine } from './tracing/traced-runs';

export type { Logger } from 'pino';

export interface LoggerOptions {
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
