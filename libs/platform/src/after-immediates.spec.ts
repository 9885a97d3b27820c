import { afterImmediates } from './after-immediates';

it('comes after what follows from where it is called, however many promises that takes, and after its immediates', async () => {
  const done: string[] = [];
  const late = afterImmediates().then(() => done.push('what waits'));
  for (let step = 0; step < 100; step++) await Promise.resolve();
  setImmediate(() => done.push('what leaves'));

  await late;

  expect(done).toEqual(['what leaves', 'what waits']);
});
