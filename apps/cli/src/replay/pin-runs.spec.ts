import { RondoError } from '@rondo/client';
import { evalPin } from '../evaluation/eval-commands';
import { runWithGateway } from '../testing/run-with-gateway';

const problem = (status: number) => ({ type: 'about:blank', title: 'No', status, code: 'run_not_found' });
const words = ['run_1', 'run_2', '--url', 'http://gateway', '--key', 'rondo_key'];

it('eval pin says of each run that is not there that it cannot be recorded, and goes on with the others', async () => {
  const answer = () => Response.json(problem(404), { status: 404 });

  const { errors, ...ended } = await runWithGateway(evalPin, words, { answer, input: '' });

  expect(ended).toMatchObject({ ending: 'failed' });
  expect(errors.match(/run_\d cannot be recorded: the gateway does not have it/g)).toHaveLength(2);
});

it('eval pin ends where the key may not read runs', async () => {
  const answer = () => Response.json(problem(403), { status: 403 });

  expect(await runWithGateway(evalPin, words, { answer, input: '' })).toMatchObject({ error: expect.any(RondoError) });
});
