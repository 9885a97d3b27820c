import { take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useMay, useRondo } from '../session/use-session.ts';

/** The names of the account's keys, for its admins: an id says little about who has done something. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['keys'],
    queryFn: () => take(rondo.apiKeys.list({ limit: 100 }), 300),
    enabled: useMay('admin'),
  });
  return new Map(data?.items.map(({ id, name }) => [id, name]));
}
