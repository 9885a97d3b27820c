import type { AccountId } from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { IdempotencyKeys, IdempotentRequest, StoredResponse } from '@rondo/persistence';
import { PeriodicTask } from '@rondo/platform';
import { ApiError, retryAfter } from '../problems/api-error';
import { problemResponse } from '../problems/problem-response';

/** A POST of a client that repeats it by itself, without a key, and says which attempt it is. */
export interface Attempt {
  readonly accountId: AccountId;
  readonly requestHash: string;
  /** 0 for the first one. */
  readonly number: number;
}

type Keys = Pick<IdempotencyKeys, 'begin' | 'beginAttempt' | 'finish' | 'abandon' | 'renew'>;

const renewEveryMs = 3_000;

/**
 * The keys of requests that this process carries out. Each is renewed until its request is answered, so that another gateway
 * takes over only what was begun by a process that is gone.
 */
export class KeysInFlight {
  private readonly held = new Set<IdempotentRequest>();
  private readonly renewal: PeriodicTask;

  constructor(
    private readonly keys: Keys,
    private readonly onError: (error: unknown) => void,
  ) {
    this.renewal = new PeriodicTask({ everyMs: renewEveryMs, work: () => this.renew(), failed: onError });
    this.renewal.start();
  }

  /**
   * Claims the key of a request. Resolves to the stored response of an earlier request with it, or to undefined for the first
   * one, which is to be finished or failed. Rejects with `idempotency_in_flight`, `idempotency_key_reused` and, for a request
   * whose answer is not kept, `idempotency_key_used`.
   */
  async begin(request: IdempotentRequest): Promise<StoredResponse | undefined> {
    const earlier = await this.keys.begin(request);
    switch (earlier.verdict) {
      case 'fresh':
        this.held.add(request);
        return undefined;
      case 'in_flight':
        throw inFlight('The first request with this key is not answered yet.');
      case 'reused':
        throw new ApiError('idempotency_key_reused', 'This key was used for another request.');
      case 'unknown':
        throw new KeyUsed('The first request with this key got no answer, and may have been carried out.');
      case 'replay':
        if (request.isOnce !== true) return earlier.response;
        throw new KeyUsed(
          'The request with this key was carried out. Its answer is not kept, because what it may have is shown once.',
          earlier.response.location,
        );
    }
  }

  /** The same for a client that sends no key. */
  async beginAttempt(attempt: Attempt, id: string): Promise<StoredResponse | IdempotentRequest> {
    const begun = await this.keys.beginAttempt(attempt, { attempt: attempt.number, id });
    if (begun.verdict === 'replay') return begun.response;
    if (begun.verdict === 'in_flight') throw inFlight('The attempt before this one is not answered yet.');
    this.held.add(begun.request);
    return begun.request;
  }

  /** Stores the response, of a request whose answer is not kept only what it has made. Never rejects. */
  async finish(request: IdempotentRequest, response: StoredResponse): Promise<void> {
    const kept = request.isOnce === true ? { ...response, body: null } : response;
    await this.keys.finish(request, kept).catch(this.onError);
    this.held.delete(request);
  }

  /** A refused request did nothing, so its key can be used again. After other errors its outcome is unknown. Never rejects. */
  async fail(request: IdempotentRequest, error: unknown): Promise<void> {
    this.held.delete(request);
    const didNothing = request.isOnce === true ? isRefusedFirst(error) : error instanceof TerminalError;
    if (didNothing) await this.keys.abandon(request).catch(this.onError);
  }

  /** The response was stored with what the request has made. */
  release(request: IdempotentRequest): void {
    this.held.delete(request);
  }

  close(): Promise<void> {
    return this.renewal.stop();
  }

  /** One that fails is made up for by the next one. */
  async renew(): Promise<void> {
    if (this.held.size > 0) await this.keys.renew([...this.held]);
  }
}

/** The request was carried out before, or may have been, and cannot be answered again. */
class KeyUsed extends ApiError {
  override readonly about: ApiError['about'];

  constructor(detail: string, resource: string | null = null) {
    super('idempotency_key_used', detail);
    this.about = { ...(resource !== null && { resource }) };
  }
}

const inFlight = (detail: string): ApiError => new ApiError('idempotency_in_flight', detail, retryAfter(1));

/** Other problems may come after something was done, for example that an executor was lost, or that the client left. */
function isRefusedFirst(error: unknown): boolean {
  const { status, code } = problemResponse(error).body;
  if (code === 'sandbox_refused') return false;
  return [402, 403, 404, 409, 413, 415, 422].includes(status) || code === 'too_many_active_runs';
}
