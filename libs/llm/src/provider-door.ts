import { HttpEndpoint } from './http/http-endpoint';
import type { HttpReply } from './http/http-reply';
import { refusal } from './provider-error';
import type { WireProtocol } from './wire-protocol';

/** No refusal says more than this that anybody would read. */
const maxRefusalBytes = 64 * 1024;

/** Where the requests to one provider go in. */
export class ProviderDoor {
  private readonly endpoint: HttpEndpoint;

  constructor({ url, headers }: WireProtocol) {
    this.endpoint = new HttpEndpoint(url, headers);
  }

  /** Resolves with a good answer whose body is unread; rejects with a ProviderError where the provider refused. */
  async ask(body: string, signal: AbortSignal): Promise<HttpReply> {
    const reply = await this.endpoint.post(body, signal);
    const { status, headers } = reply;
    if (status >= 200 && status < 300) return reply;
    throw refusal({ status, headers, detail: detailIn(await reply.text(maxRefusalBytes)) });
  }
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
