import { runWithGateway } from '../testing/run-with-gateway';
import { answer } from './answer';

it.each([
  [null, 'run_a does not wait.'],
  [{ reason: 'approval' }, 'run_a waits for something else: rondo approve run_a'],
])('answer asks for no answer of a run that waits for none: %j', async (waiting, words) => {
  const { errors, ...ended } = await runWithGateway(answer, ['run_a'], {
    answer: () => Response.json({ id: 'run_a', waiting }),
  });

  expect(ended).toMatchObject({ ending: 'failed' });
  expect(errors).toContain(words);
});
