import { Rondo } from '@rondo/client';

const keyName = 'rondo.api-key';

/** Who uses the console: an API key, kept for as long as the tab is open. */
export interface Session {
  readonly rondo: Rondo;
  readonly signOut: () => void;
}

export const storedKey = (): string | null => sessionStorage.getItem(keyName);

export function forgetKey(): void {
  sessionStorage.removeItem(keyName);
}

/** Rejects if the gateway does not accept the key. */
export async function signInWith(key: string): Promise<void> {
  const page = clientOf(key).runs.list({ limit: 1 });
  await page.next();
  sessionStorage.setItem(keyName, key);
}

export const clientOf = (key: string): Rondo => new Rondo({ baseUrl: location.origin, apiKey: key });
