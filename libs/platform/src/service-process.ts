import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';

/** A Nest application, or anything else that can be closed. */
interface Service {
  close(): Promise<void>;
}

interface ServiceOptions {
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
  setV8Flags();
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

/** Starts a service, or ends the process with the reason in its log. */
export async function startService<Started>(start: () => Promise<Started>, log: Logger): Promise<Started> {
  try {
    return await start();
  } catch (error) {
    return die(log, { error }, 'service could not start');
  }
}

function die(log: Logger, fields: object, message: string): never {
  log.fatal(fields, message);
  process.exit(1);
}

const [major = 0] = process.versions.node.split('.').map(Number);

/** What V8 does otherwise than by default in a service that has started. It reports a flag that it does not know, and ignores it. */
export const v8Flags: readonly string[] = [
  /**
   * Pretenuring allocates objects directly in the old generation when earlier ones from the same place survived a young
   * collection. While the heap is small, messages in flight do survive one; their successors, which live for milliseconds,
   * would then stay with all that they refer to until the next full collection.
   */
  '--no-allocation-site-pretenuring',
  /**
   * So many bytes of bytecode a function executes between two looks at whether it shall be optimized; V8's own figure is
   * 66 KiB. A function that each run calls once or twice would stay unoptimized for the first ten thousands of runs. Since Node 22
   * V8 counts the calls of each function instead.
   */
  ...(major < 22 ? ['--interrupt-budget=20000'] : []),
];

/** Called after the start, whose functions are called once and are not worth optimizing. */
function setV8Flags(): void {
  for (const flag of v8Flags) setFlagsFromString(flag);
}
