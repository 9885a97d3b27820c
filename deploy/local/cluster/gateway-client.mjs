import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const retryEveryMs = 250;
const retryWithinMs = 180_000;
const answerWithinMs = 60_000;

/** Asks the gateways through their Service. A request that fails is counted and sent again, with the same Idempotency-Key. */
export class GatewayClient {
  #url;
  #key;
  requests = 0;
  /** What each failed request failed with. */
  failures = [];

  constructor(url, key) {
    this.#url = url;
    this.#key = key;
  }

  async ask(method, path, body) {
    const idempotency = randomUUID();
    const deadline = performance.now() + retryWithinMs;
    for (;;) {
      this.requests += 1;
      const answer = await this.#send({ method, path, body, idempotency }).catch((error) => ({
        failure: toReason(error),
      }));
      if (answer.failure === undefined) return answer.body;
      this.failures.push(`${method} ${path.split('?')[0]}: ${answer.failure}`);
      if (answer.isFinal || performance.now() > deadline) throw new Error(this.failures.at(-1));
      await delay(retryEveryMs);
    }
  }

  /** The run, once it has ended or waits. */
  async waitForEnd(id) {
    for (;;) {
      const run = await this.ask('GET', `/runs/${id}/wait?timeout_s=10`);
      if (/^(completed|failed|stopped|waiting_)/.test(run.status)) return run;
    }
  }

  async #send({ method, path, body, idempotency }) {
    const response = await fetch(`${this.#url}/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${this.#key}`,
        ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': idempotency }),
      },
      signal: AbortSignal.timeout(answerWithinMs),
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return { body: JSON.parse(text) };
    const isFinal = response.status < 500 && response.status !== 429 && !text.includes('idempotency_in_flight');
    return { failure: `${response.status} ${text.slice(0, 300)}`, isFinal };
  }
}

function toReason(error) {
  return [error.message, error.cause?.code ?? error.cause?.message].filter(Boolean).join(' ');
}
