import { type WebhookEndpoint, take } from '@rondo/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useRondo } from '../session/use-session.ts';

/** An account has a few at most. */
const most = 100;

export function useEndpoints(): UseQueryResult<readonly WebhookEndpoint[]> {
  const rondo = useRondo();
  return useQuery({
    queryKey: ['endpoints'],
    queryFn: async () => (await take(rondo.webhookEndpoints.list({ limit: most }), most)).items,
  });
}
