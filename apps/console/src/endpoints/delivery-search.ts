import type { WebhookDeliveryStatus } from '@rondo/client';

export const deliveryStatuses: readonly WebhookDeliveryStatus[] = ['pending', 'delivered', 'dead'];

/** Which deliveries are shown, as the address has it. */
export interface DeliverySearch {
  readonly status?: WebhookDeliveryStatus;
}

export function readDeliverySearch({ status }: Record<string, unknown>): DeliverySearch {
  const known = deliveryStatuses.find((candidate) => candidate === status);
  return known ? { status: known } : {};
}
