interface EarlyRequest {
  readonly answer: Promise<Response>;
  readonly controller: AbortController;
}

/** Requests whose readers have not come yet. */
const early = new Map<string, EarlyRequest>();

/** So long an answer waits for its reader. */
const keptMs = 10_000;

const toKey = (url: string, headers?: HeadersInit): string =>
  `${url} ${new Headers(headers).get('Last-Event-ID') ?? ''}`;

/** Asks for what a page reads first, while its code comes. */
export function requestEarly(url: string, headers?: HeadersInit): void {
  const key = toKey(url, headers);
  const controller = new AbortController();
  const answer = fetch(url, { ...(headers && { headers }), signal: controller.signal });
  answer.catch(() => undefined); // its reader asks again
  early.set(key, { answer, controller });
  setTimeout(() => {
    if (early.delete(key)) controller.abort();
  }, keptMs);
}

/** The answer to the same request that was sent early: once, and not where it came before there was a session. */
export async function takeEarly(...[url, init]: Parameters<typeof fetch>): Promise<Response | undefined> {
  if (typeof url !== 'string') return undefined;
  const key = toKey(url, init?.headers);
  const request = early.get(key);
  if (!request) return undefined;
  early.delete(key);
  const { signal } = init ?? {};
  const leave = () => request.controller.abort(signal?.reason);
  if (signal?.aborted) leave();
  signal?.addEventListener('abort', leave, { once: true });
  const response = await request.answer.catch(() => undefined);
  return response?.status === 401 ? undefined : response;
}
