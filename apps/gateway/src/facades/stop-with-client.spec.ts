import { EventEmitter } from 'node:events';
import { runId } from '@rondo/contract';
import { stopWithClient } from './stop-with-client';

const caller = { accountId: 'acc_1', scopes: ['write'] } as never;

/** What the run was told that a client with this response watches. */
function watch(about: { readonly closed: boolean; readonly writableEnded: boolean }) {
  const stopped: string[] = [];
  const stop = (_: unknown, reason: string) => Promise.resolve(stopped.push(reason));
  const response = Object.assign(new EventEmitter(), about);
  stopWithClient({ stop } as never, runId.parse('run_1'), { caller, response: response as never });
  return { stopped, response };
}

describe('a run that is to end with its client', () => {
  it('is stopped when the client leaves, also while the run was begun', () => {
    const { stopped, response } = watch({ closed: false, writableEnded: false });
    expect(stopped).toEqual([]);
    response.emit('close');
    expect(stopped).toEqual(['the client disconnected']);
    expect(watch({ closed: true, writableEnded: false }).stopped).toEqual(['the client disconnected']);
  });

  it('is not stopped when it has been told everything', () => {
    const { stopped, response } = watch({ closed: false, writableEnded: true });
    response.emit('close');
    expect(stopped).toEqual([]);
  });
});
