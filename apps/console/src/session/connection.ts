import { useSyncExternalStore } from 'react';
import { gatewayUrl } from '../gateway-url.ts';
import { takeEarly } from './early-requests.ts';

const listeners = new Set<() => void>();
let isLost = false;

function setLost(lost: boolean): void {
  if (lost === isLost) return;
  isLost = lost;
  for (const listener of listeners) listener();
}

/** What a proxy answers in the place of a gateway that is away. */
const answersOfProxies: readonly number[] = [502, 504];

/** The same `fetch`, which notes whether the gateway answers. A request that the page itself gives up says nothing. */
export const fetchAndWatch: typeof fetch = async (...request) => {
  try {
    const response = (await takeEarly(...request)) ?? (await fetch(...request));
    setLost(answersOfProxies.includes(response.status));
    return response;
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'AbortError')) setLost(true);
    throw error;
  }
};

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Calls the listener each time that the gateway answers again. */
export const onReturn = (listener: () => void): (() => void) => subscribe(() => isLost || listener());

const retryMs = 1_000;

/** Resolves when the gateway answers, which it is asked until it does. */
export async function untilAnswered(): Promise<void> {
  for (;;) {
    await fetchAndWatch(`${gatewayUrl()}/console/`, { method: 'HEAD' }).catch(() => undefined);
    if (!isLost) return;
    await new Promise((resume) => setTimeout(resume, retryMs));
  }
}

/** Resolves when the gateway is not known to be away. */
export const untilReturned = (): Promise<void> => (isLost ? untilAnswered() : Promise.resolve());

/** Whether the gateway did not answer the last request. The next one that it answers ends that. */
export const useConnectionLost = (): boolean => useSyncExternalStore(subscribe, () => isLost);
