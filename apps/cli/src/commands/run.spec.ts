import { RondoError } from '@rondo/client';
import { runWithGateway } from '../testing/run-with-gateway';
import { stop } from './run';

it('stop prints the receipts of all runs that it has stopped, also where one of them is not there', async () => {
  const missing = { type: 'about:blank', title: 'Not Found', status: 404, code: 'run_not_found' };
  const none = { data: [], has_more: false, next_cursor: null };
  const answer = ({ method, url }: Request) => {
    if (url.includes('run_none')) return Response.json(missing, { status: 404 });
    return Response.json(method === 'POST' ? { id: 'run_a', status: 'stopped', last_seq: 1 } : none);
  };

  const { error, output } = (await runWithGateway(stop, ['run_none', 'run_a'], { answer, input: '' })) as {
    error: unknown;
    output: string;
  };

  expect(output).toContain('run_a stopped');
  expect(error).toBeInstanceOf(RondoError);
});
