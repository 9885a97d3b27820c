import type { Logger } from 'pino';
import { disablePretenuring } from './disable-pretenuring';

/** A Nest application, or anything else that can be closed. */
interface Service {
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly log: Logger;
  /** Transfers work to other processes before anything is closed. */
  readonly drain?: () => Promise<void>;
  /** After this, the process ends even if it has not drained. */
  readonly drainTimeoutMs?: number;
}

/**
 * Ends the service on SIGTERM or SIGINT: first `drain`, then Nest's hooks, then the process. Workers close in
 * `onModuleDestroy`, connections in `onApplicationShutdown`: the other way round, jobs that still run write through
 * closed clients and the process hangs. Another signal during shutdown changes nothing, since a terminal and a
 * supervisor often both send one. An unhandled rejection ends the process at once, because its state is unknown.
 */
export function runService(service: Service, { log, drain, drainTimeoutMs = 10_000 }: ServiceOptions): void {
  disablePretenuring();
  let closing = false;

  const close = async (signal: NodeJS.Signals): Promise<void> => {
    if (closing) return;
    closing = true;
    log.info({ signal }, 'service shutdown began');
    const tooLong = setTimeout(
      () => die(log, { drainTimeoutMs }, 'service shutdown timed out'),
      drainTimeoutMs,
    ).unref();

    try {
      await drain?.();
      await service.close();
    } finally {
      clearTimeout(tooLong);
    }
    log.info({ signal }, 'service shut down');
    process.exit(0);
  };

  const onSignal = (signal: NodeJS.Signals) => {
    close(signal).catch((error: unknown) => die(log, { error }, 'service shutdown failed'));
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('unhandledRejection', (error) => die(log, { error }, 'promise rejection was not handled'));
  process.on('uncaughtException', (error) => die(log, { error }, 'exception was not caught'));
}

function die(log: Logger, fields: object, message: string): never {
  log.fatal(fields, message);
  process.exit(1);
}
