import { setTimeout as delay } from 'node:timers/promises';
import type { AccountId, ThreadId } from '@rondo/contract';
import { type KnownSite, type NatsLink, accessSandbox } from '@rondo/messaging';
import type { Sandboxes, ThreadAddress } from '@rondo/persistence';
import { ApiError } from '../problems/api-error';
import { asApiError, unavailable } from '../sandboxes/sandbox-errors';

interface SiteServiceParts {
  readonly sandboxes: Pick<Sandboxes, 'ofThread' | 'readWorkspace' | 'readExecutors' | 'findOwned'>;
  readonly link: Promise<NatsLink>;
}

export interface SiteAddress extends ThreadAddress {
  readonly name: string;
}

interface SiteList {
  readonly sites: readonly KnownSite[];
  readonly complete: boolean;
}

/** A list does not wait longer for an executor that hangs. */
const listedWithinMs = 3_000;

/** The static sites that agents have deployed. Executors have them; the database only knows which executors to ask. */
export class SiteService {
  private link: NatsLink | undefined;

  constructor(private readonly parts: SiteServiceParts) {
    void parts.link.then((link) => (this.link = link));
  }

  /** By thread and name, of all threads or of one. Incomplete where an executor does not answer. */
  async list(accountId: AccountId, only?: ThreadId): Promise<SiteList> {
    const { sandboxes } = this.parts;
    const sandbox = only === undefined ? undefined : await sandboxes.ofThread(accountId, only);
    const executors =
      only === undefined ? await sandboxes.readExecutors(accountId) : [sandbox?.executorId ?? []].flat();
    const answers = await Promise.all(executors.map((executorId) => this.ask(executorId, accountId)));
    const known = answers.flatMap((answer) => answer ?? []);
    const owned = await sandboxes.findOwned(accountId, [...new Set(known.map(({ thread_id }) => thread_id))]);
    const sites = known.filter(
      ({ thread_id }) => owned.has(thread_id) && (sandbox?.threadId ?? thread_id) === thread_id,
    );
    return { sites: sites.sort(byThreadAndName), complete: !answers.includes(undefined) };
  }

  /** `site_not_found` where the thread has none of that name. */
  async read({ accountId, threadId, name }: SiteAddress): Promise<KnownSite> {
    await this.parts.sandboxes.readWorkspace({ accountId, threadId });
    const { sites, complete } = await this.list(accountId, threadId);
    const site = sites.find((one) => one.name === name);
    if (site) return site;
    if (!complete) throw unavailable("The executor that has the thread's sites does not answer.");
    throw noSite(name);
  }

  /** Takes a site down. `site_not_found` where the thread has none of that name. */
  async withdraw({ accountId, threadId, name }: SiteAddress): Promise<void> {
    const { sandboxes } = this.parts;
    await sandboxes.readWorkspace({ accountId, threadId });
    const sandbox = await sandboxes.ofThread(accountId, threadId);
    if (!sandbox) throw noSite(name);
    if (!this.link) throw unavailable('NATS is away.');
    const request = { op: 'withdraw' as const, account_id: accountId, thread_id: sandbox.threadId, site: name };
    try {
      const { tunnel } = await accessSandbox<'withdraw'>(this.link, { executorId: sandbox.executorId }, request);
      tunnel.resume().end();
    } catch (error) {
      const failure = asApiError(error);
      throw failure instanceof ApiError && failure.code === 'file_not_found' ? noSite(name) : failure;
    }
  }

  /** Undefined where the executor does not answer in time, or is of a version that lists no sites. */
  private async ask(executorId: string, accountId: AccountId): Promise<readonly KnownSite[] | undefined> {
    if (!this.link) return undefined;
    const answered = accessSandbox<'sites'>(this.link, { executorId }, { op: 'sites', account_id: accountId }).then(
      ({ head, tunnel }) => {
        tunnel.resume().end();
        return head.sites;
      },
      () => undefined,
    );
    return Promise.race([answered, delay(listedWithinMs, undefined, { ref: false })]);
  }
}

export const toSiteKey = ({ thread_id, name }: { thread_id: ThreadId; name: string }): string => `${thread_id}/${name}`;

const byThreadAndName = (one: KnownSite, other: KnownSite): number => (toSiteKey(one) < toSiteKey(other) ? -1 : 1);
const noSite = (name: string): ApiError => new ApiError('site_not_found', `The thread has no site ${name}.`);
