import { setTimeout as sleep } from 'node:timers/promises';
import {
  CheckedDestination,
  type HttpAnswer,
  type HttpMessage,
  OutboundRefusal,
  type OutboundRules,
  type Resolve,
  anySignal,
  exchange,
  operatorsRules,
  toTarget,
} from '@rondo/platform';
import { Secrets } from './secrets';

/** A service that the operator has configured. */
export interface ServiceEndpoint {
  /** As messages for the model call it. */
  readonly name: string;
  /** Where its paths begin. */
  readonly url: string;
  /** The operator wrote the URL, so it may be in a private network. */
  readonly mayBePrivate: boolean;
  readonly key?: string | undefined;
}

interface ConfiguredAddress {
  readonly key?: string | undefined;
  /** The operator's own. */
  readonly url?: string | undefined;
  readonly publicUrl: string;
}

export const endpointAt = (name: string, { key, url, publicUrl }: ConfiguredAddress): ServiceEndpoint => ({
  ...{ name, key, url: url ?? publicUrl },
  mayBePrivate: url !== undefined,
});

export interface ServiceRules extends OutboundRules {
  /** For services that may be private. */
  readonly resolveInternal: Resolve;
  /** Before the second attempt; each later pause is twice as long. */
  readonly pauseMs: number;
}

export interface ServiceRequest {
  readonly method: 'GET' | 'POST';
  /** Appended to the service's URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent in place of `body`, as `multipart/form-data`. */
  readonly form?: FormData;
}

interface CallOptions {
  readonly signal: AbortSignal;
  /** Of one attempt. */
  readonly timeoutMs: number;
  readonly attempts?: number;
}

/** Why a service has no answer. The message is for the model, without keys. */
export class ServiceProblem extends Error {
  override readonly name = 'ServiceProblem';

  constructor(
    message: string,
    /** Asking again may help. */
    readonly mayPass: boolean,
  ) {
    super(message);
  }
}

const bodyBytes = 16 * 1024 * 1024;
const longestReason = 500;
const temporary = [408, 425, 429];

/**
 * Calls the API of a configured service, over an address that was checked. Redirects are not followed: the request carries
 * a key. Nothing that comes back contains the key.
 */
export class ServiceClient {
  private readonly secrets: Secrets;

  constructor(
    readonly endpoint: ServiceEndpoint,
    private readonly rules: ServiceRules,
  ) {
    this.secrets = new Secrets(endpoint.key === undefined ? [] : [endpoint.key]);
  }

  /** The JSON of the answer. Rejects with ServiceProblem, or with the reason of the signal when that ended it. */
  async call(request: ServiceRequest, { attempts = 1, ...options }: CallOptions): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt(request, options);
      } catch (error) {
        options.signal.throwIfAborted();
        const isLast = attempt >= attempts || !(error instanceof ServiceProblem && error.mayPass);
        if (isLast) throw error;
      }
      await sleep(this.rules.pauseMs * 2 ** (attempt - 1), undefined, { signal: options.signal }).catch(() =>
        options.signal.throwIfAborted(),
      );
    }
  }

  private async attempt(request: ServiceRequest, { signal, timeoutMs }: CallOptions): Promise<unknown> {
    const { name } = this.endpoint;
    const enough = anySignal([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const message = await this.toRequestMessage(request);
      const destination = await this.readDestination(message.url);
      const outcome = await exchange(message, destination, { signal: enough.signal, bodyBytes });
      if (outcome.how === 'answered' && !enough.signal.aborted) return this.toContent(outcome.answer);
      const why = enough.signal.aborted ? `did not answer within ${timeoutMs / 1_000} s` : 'could not be reached';
      throw new ServiceProblem(`${name} ${why}.`, true);
    } finally {
      enough.release();
    }
  }

  private async toRequestMessage({
    method,
    path,
    query = {},
    headers = {},
    body,
    form,
  }: ServiceRequest): Promise<HttpMessage> {
    const encoded = form && new Response(form);
    const type = encoded?.headers.get('content-type') ?? (body === undefined ? undefined : 'application/json');
    const url = new URL(`${this.endpoint.url.replace(/\/$/, '')}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return {
      method,
      url,
      headers: {
        accept: 'application/json',
        ...(type !== undefined && { 'content-type': type }),
        ...headers,
      },
      body: encoded ? Buffer.from(await encoded.arrayBuffer()) : body === undefined ? undefined : JSON.stringify(body),
    };
  }

  private async readDestination(url: URL): Promise<CheckedDestination> {
    const { name, mayBePrivate } = this.endpoint;
    const target = toTarget(url);
    const { resolveInternal, proxy } = this.rules;
    try {
      return await CheckedDestination.check(target, mayBePrivate ? operatorsRules(resolveInternal, proxy) : this.rules);
    } catch (error) {
      const isRefusal = error instanceof OutboundRefusal;
      throw new ServiceProblem(`${name} ${isRefusal ? 'has no public address' : 'was not found'}.`, !isRefusal);
    }
  }

  private toContent({ status, body, cut }: HttpAnswer): unknown {
    const { name } = this.endpoint;
    const text = body.toString();
    if (status < 200 || status > 299) {
      const reason = this.secrets.redact(text).slice(0, longestReason).trim();
      throw new ServiceProblem(
        `${name} answered with status ${status}${reason === '' ? '' : `: ${reason}`}`,
        status >= 500 || temporary.includes(status),
      );
    }
    if (cut !== undefined)
      throw new ServiceProblem(`${name} sent an incomplete answer: ${cut}.`, body.length < bodyBytes);
    try {
      return this.secrets.parse(text);
    } catch {
      throw new ServiceProblem(`${name} sent an answer that is not JSON.`, false);
    }
  }
}
