import { createLogger } from './logger';
import { runService, startService } from './service-process';

const signals = ['SIGTERM', 'SIGINT', 'unhandledRejection', 'uncaughtException'] as const;

/** Runs a service with `process.exit` replaced, and resolves with the exit code when it is called. */
function underWatch() {
  const steps: string[] = [];
  const destination = { write: (line: string) => void steps.push((JSON.parse(line) as { msg: string }).msg) };
  const log = createLogger({ name: 'test', destination });
  const exited = new Promise<number>((resolve) => {
    jest.spyOn(process, 'exit').mockImplementation((code) => {
      resolve(Number(code));
      return undefined as never; // the real one does not return
    });
  });
  return { steps, log, exited };
}

const step = (steps: string[], name: string) => () => {
  steps.push(name);
  return Promise.resolve();
};

describe('runService', () => {
  const before = signals.map((signal) => process.listeners(signal as 'SIGTERM'));

  afterEach(() => {
    signals.forEach((signal, index) => {
      for (const listener of process.listeners(signal as 'SIGTERM')) {
        if (!before[index]?.includes(listener)) process.off(signal, listener);
      }
    });
    jest.restoreAllMocks();
  });

  it('drains, then closes, then ends the process, once for many signals', async () => {
    const { steps, log, exited } = underWatch();
    runService({ close: step(steps, 'close') }, { log, drain: step(steps, 'drain') });

    process.emit('SIGTERM');
    process.emit('SIGINT');

    expect(await exited).toBe(0);
    expect(steps).toEqual(['service shutdown began', 'drain', 'close', 'service shut down']);
  });

  it('ends with 1 when closing takes too long, as a connection may never close', async () => {
    const { steps, log, exited } = underWatch();
    runService({ close: () => new Promise(() => undefined) }, { log, drainTimeoutMs: 20 });

    process.emit('SIGTERM');

    expect(await exited).toBe(1);
    expect(steps).toEqual(['service shutdown began', 'service shutdown timed out']);
  });

  it('ends with 1 when closing fails', async () => {
    const { steps, log, exited } = underWatch();
    runService({ close: () => Promise.reject(new Error('stuck')) }, { log });

    process.emit('SIGINT');

    expect(await exited).toBe(1);
    expect(steps.at(-1)).toBe('service shutdown failed');
  });

  it('ends with 1 on an unhandled rejection', async () => {
    const { steps, log, exited } = underWatch();
    runService({ close: () => Promise.resolve() }, { log });

    process.emit('unhandledRejection', new Error('lost'), Promise.resolve());

    expect(await exited).toBe(1);
    expect(steps).toEqual(['promise rejection was not handled']);
  });
});

describe('startService', () => {
  afterEach(() => jest.restoreAllMocks());

  it('resolves with what was started', async () => {
    const { steps, log } = underWatch();

    expect(await startService(() => Promise.resolve('started'), log)).toBe('started');
    expect(steps).toEqual([]);
  });

  it('ends with 1 and the reason in the log when a service cannot start', async () => {
    const { steps, log, exited } = underWatch();

    void startService(() => Promise.reject(new Error('the database is too new')), log);

    expect(await exited).toBe(1);
    expect(steps).toEqual(['service could not start']);
  });
});
