import { PassThrough } from 'node:stream';
import { Terminal } from '../terminal';
import { untilInterrupted } from './until-interrupted';

const errors = new PassThrough();
const terminal = new Terminal(
  { input: new PassThrough(), output: new PassThrough(), errors },
  { json: false, colour: false },
);

describe('work that Ctrl-C ends', () => {
  it('returns what it found, and leaves no listener', async () => {
    const before = process.listenerCount('SIGINT');

    await expect(untilInterrupted(terminal, () => Promise.resolve('found'))).resolves.toBe('found');
    await expect(untilInterrupted(terminal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');

    expect(process.listenerCount('SIGINT')).toBe(before);
  });

  it('is told of the first Ctrl-C, and its error is none then', async () => {
    const work = (signal: AbortSignal) =>
      new Promise<string>((_done, fail) => {
        signal.addEventListener('abort', () => fail(new Error('aborted')));
        process.emit('SIGINT');
      });

    await expect(untilInterrupted(terminal, work)).resolves.toBeUndefined();

    expect(String(errors.read())).toContain('the same command goes on with them');
  });
});
