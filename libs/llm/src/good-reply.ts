import type { HttpReply } from './http/http-reply';
import { refusal } from './provider-error';

/** No refusal says more than this that anybody would read. */
const maxRefusalBytes = 64 * 1024;

/** Rejects with a ProviderError where the provider refused; the body of a good answer is left unheard. */
export async function requireCompleteReply(reply: HttpReply): Promise<void> {
  const { status, headers } = reply;
  if (status >= 200 && status < 300) return;
  throw refusal({ status, headers, detail: detailIn(await reply.text(maxRefusalBytes)) });
}

/** Both protocols put what is wrong into `error`; servers that imitate them may say it without, or in plain words. */
function detailIn(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null && 'error' in body ? body.error : body;
  } catch {
    return text;
  }
}
