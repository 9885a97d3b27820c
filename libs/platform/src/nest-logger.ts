import type { LoggerService } from '@nestjs/common';
import type { Logger } from 'pino';

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
