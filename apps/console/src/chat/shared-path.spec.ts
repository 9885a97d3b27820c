import { readSharedThread, toSharedPath } from './shared-path';

it('the address of a shared thread names it, and no other address does', () => {
  expect(readSharedThread(toSharedPath('thr_01ABC'))).toBe('thr_01ABC');
  expect(readSharedThread('/console/shared/thr_01ABC/')).toBe('thr_01ABC');
  expect(readSharedThread('/rondo/console/shared/thr_01ABC')).toBe('thr_01ABC'); // below a path of a proxy
  for (const other of ['/console/threads/thr_01ABC', '/console/shared/', '/console/shared/thr_1/../x', '/'])
    expect(readSharedThread(other)).toBeUndefined();
});
