import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { refreshKey } from './use-refresh-key.ts';

it('does not show the answer of a first read that began before the change', async () => {
  const queries = new QueryClient();
  let answerFirst: ((list: string) => void) | undefined;
  const first = new Promise<string>((resolve) => {
    answerFirst = resolve;
  });
  let reads = 0;
  const queryFn = () => (reads++ === 0 ? first : Promise.resolve('after the change'));
  const list = new QueryObserver(queries, { queryKey: ['keys', 'all'], queryFn });
  const stop = list.subscribe(() => undefined);
  const refreshed = refreshKey(queries, ['keys']);
  answerFirst?.('before the change');
  await refreshed;
  expect(list.getCurrentResult().data).toBe('after the change');
  expect(reads).toBe(2);
  stop();
  queries.clear();
});

it('leaves the queries of other keys as they are', async () => {
  const queries = new QueryClient();
  queries.setQueryData(['keys'], 'all');
  queries.setQueryData(['accounts'], 'all');
  await refreshKey(queries, ['keys']);
  expect(queries.getQueryState(['keys'])?.isInvalidated).toBe(true);
  expect(queries.getQueryState(['accounts'])?.isInvalidated).toBe(false);
  queries.clear();
});
