import { createLogger, nestLogger, noteTracedRun } from './logger';

function captured() {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { lines, log: createLogger({ name: 'gateway', level: 'debug', destination }) };
}

describe('createLogger', () => {
  it('writes the service, the level by name and the bound run', () => {
    const { lines, log } = captured();

    log.child({ runId: 'run_1' }).info({ attempt: 2 }, 'run attempt ended');

    expect(lines).toMatchObject([
      { level: 'info', service: 'gateway', runId: 'run_1', attempt: 2, msg: 'run attempt ended' },
    ]);
  });

  it('names the trace of a run that is traced, and of no other', () => {
    const { lines, log } = captured();
    noteTracedRun('run_traced', '4bf92f3577b34da6a3ce929d0e0e4736');

    log.info({ runId: 'run_traced' }, 'run activation ended');
    log.info({ runId: 'run_other' }, 'run activation ended');
    log.info('service started');

    expect(lines.map(({ trace_id }) => trace_id)).toEqual(['4bf92f3577b34da6a3ce929d0e0e4736', undefined, undefined]);
  });

  it('redacts secrets (I12)', () => {
    const { lines, log } = captured();

    log.warn(
      { authorization: 'Bearer s3cret', provider: { apiKey: 's3cret' }, req: { headers: { authorization: 's3cret' } } },
      'request refused',
    );

    expect(JSON.stringify(lines)).not.toContain('s3cret');
  });

  it('keeps the message, code and stack of an error', () => {
    const { lines, log } = captured();

    log.error({ error: Object.assign(new Error('gone'), { code: 'ECONNRESET' }) }, 'connection lost');

    expect(lines[0]).toMatchObject({
      error: { message: 'gone', code: 'ECONNRESET', stack: expect.stringContaining('logger.spec') },
    });
  });
});

describe('nestLogger', () => {
  it('passes Nest lines on with their context, and objects as fields', () => {
    const { lines, log } = captured();
    const logger = nestLogger(log);

    logger.log('Nest application started', 'NestApplication');
    logger.log({ msg: 'run attempt ended', runId: 'run_1' }, 'RunProcessor');

    expect(lines).toMatchObject([
      { level: 'info', context: 'NestApplication', msg: 'Nest application started' },
      { level: 'info', context: 'RunProcessor', msg: 'run attempt ended', runId: 'run_1' },
    ]);
  });

  it('keeps the error of an error line', () => {
    const { lines, log } = captured();
    const logger = nestLogger(log);

    logger.error(new Error('boom'), 'ExceptionsHandler');
    logger.error('it broke', 'Error: it broke\n    at somewhere', 'ExceptionsHandler');

    expect(lines).toMatchObject([
      { level: 'error', context: 'ExceptionsHandler', error: { message: 'boom' } },
      { level: 'error', context: 'ExceptionsHandler', msg: 'it broke', stack: expect.stringContaining('somewhere') },
    ]);
  });
});
