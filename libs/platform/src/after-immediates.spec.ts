import { afterImmediates } from './periodic-task';

it('resolves after the promise callbacks of its caller, however many, and after their immediates', async () => {
  const done: string[] = [];
  const late = afterImmediates().then(() => done.push('what waits'));
  for (let step = 0; step < 100; step++) await Promise.resolve();
  setImmediate(() => done.push('what leaves'));

  await late;

  expect(done).toEqual(['what leaves', 'what waits']);
});
