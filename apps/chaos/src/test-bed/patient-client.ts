import { type Fact, Rondo, RondoError, type Run } from '@rondo/client';
import { isTerminal, isWaiting } from '@rondo/contract';

/** Some five minutes: several gateways may die in a row that had begun the same request. */
const retries = 60;
const answerWithinMs = 30_000;

/** The client of Rondo's users, for several gateways that may be down: each attempt of a request goes to the next one. */
export class PatientClient extends Rondo {
  constructor(
    private readonly gateways: readonly string[],
    private readonly apiKey: string,
  ) {
    super({ baseUrl: gateways[0] ?? '', apiKey, retries, fetch: fetchInTurn(gateways) });
  }

  /** A client of the same gateways with another API key. */
  withKey(key: string): PatientClient {
    return new PatientClient(this.gateways, key);
  }

  /** For each gateway a client that asks only that one. */
  forEachGateway(): PatientClient[] {
    return this.gateways.map((gateway) => new PatientClient([gateway], this.apiKey));
  }

  /** Asks for the stop and does not wait for it. */
  requestStop(id: string, reason = 'enough'): Promise<Run> {
    return this.request({ method: 'POST', path: `/v1/runs/${id}/stop`, json: { reason } });
  }

  /** The run once it has ended or waits; undefined after `withinMs`. */
  async waitForRun(id: string, withinMs: number): Promise<Run | undefined> {
    const signal = AbortSignal.timeout(withinMs);
    return this.runs.wait(id, { signal }).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
  }

  /** All facts that the log has now. */
  facts(id: string): Promise<Fact[]> {
    return collect(this.runs.facts(id));
  }
}

/** All items of a list of the client. */
export async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

/** The time limit is not for streams, which the client itself holds to signs of life. */
function fetchInTurn(gateways: readonly string[]): typeof fetch {
  let turn = 0;
  return (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const isStream = new Headers(init?.headers).get('Accept') === 'text/event-stream';
    const signals = [init?.signal, isStream ? undefined : AbortSignal.timeout(answerWithinMs)];
    const signal = AbortSignal.any(signals.filter((one) => one instanceof AbortSignal));
    return fetch(`${gateways[turn++ % gateways.length]}${pathname}${search}`, { ...init, signal });
  };
}

/** It is over, or waits for a person. */
export const isSettled = ({ status }: Pick<Run, 'status'>): boolean => isTerminal(status) || isWaiting(status);

/** The run does not exist, though its client has its id. */
export const isGone = (error: unknown): boolean => error instanceof RondoError && error.code === 'run_not_found';
