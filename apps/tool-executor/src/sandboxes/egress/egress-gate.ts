import { isListedHost } from '@rondo/contract';
import { bareHost, type CheckedDestination, OutboundRefusal, type Target, TokenBucket } from '@rondo/platform';
import type { SecretSource } from '../../secrets/secret-source';
import { SandboxSecrets } from './sandbox-secrets';
import type { SecretAuthority } from './secret-authority';
import { EgressRefusal, decideDestination, type EgressRules } from './destination';

/** Concurrent name lookups of one sandbox. */
const lookupLimit = 32;
/** The burst: so many seconds' worth of requests at once. */
const burstSeconds = 4;

/** The sandbox exceeds its rate of requests. */
export class TooManyRequests extends OutboundRefusal {
  override readonly name = 'TooManyRequests';
}

/** Admits the outbound requests of one sandbox: by destination, and by rate, so that no sandbox uses up the network of others. */
export class EgressGate {
  private readonly requests: TokenBucket;
  private readonly lookups = new Map<string, Promise<readonly string[]>>();

  constructor(
    private readonly rules: EgressRules,
    /** Undefined where sandboxes can use no secrets. */
    readonly secrets?: SandboxSecrets,
    /** It outlives the gate. */
    private readonly list: HostList = {},
  ) {
    const { requestsPerSecond } = rules;
    this.requests = new TokenBucket(requestsPerSecond, requestsPerSecond * burstSeconds);
  }

  /** The only hosts that the sandbox reaches. Undefined: all that the deployment allows. */
  get listed(): readonly string[] | undefined {
    return this.list.hosts;
  }

  limitTo(hosts: readonly string[] | undefined): void {
    this.list.hosts = hosts;
  }

  /** Decides about one request. Rejects with OutboundRefusal, whose message the command gets to read. */
  async admit(target: Target): Promise<CheckedDestination> {
    const host = bareHost(target.hostname).toLowerCase();
    if (this.listed && !isListedHost(this.listed, host))
      throw new EgressRefusal(`${host} is not among the hosts that the environment of this run names.`);
    return this.admitUnlisted(target);
  }

  /** The same for what the run itself names elsewhere: its MCP servers. */
  async admitUnlisted(target: Target): Promise<CheckedDestination> {
    if (!this.requests.take()) {
      throw new TooManyRequests(
        `Too many requests: this sandbox may send ${this.rules.requestsPerSecond} a second. Wait, and send fewer.`,
      );
    }
    return decideDestination(target, { ...this.rules, resolve: (host) => this.lookUp(host) });
  }

  private lookUp(host: string): Promise<readonly string[]> {
    const known = this.lookups.get(host);
    if (known) return known;
    if (this.lookups.size >= lookupLimit) {
      throw new TooManyRequests(
        `Too many names at once: this sandbox may look up ${lookupLimit}. Wait, and try again.`,
      );
    }
    const lookup = this.rules.resolve(host).finally(() => this.lookups.delete(host));
    this.lookups.set(host, lookup);
    return lookup;
  }
}

interface HostList {
  hosts?: readonly string[] | undefined;
}

/** What sandboxes need to use secrets. */
export interface EgressSecrets {
  readonly source: SecretSource;
  /** Placeholders follow from it, and end with this process. */
  readonly key: Buffer;
  readonly authority: SecretAuthority;
  /** Only tests have hosts whose authority is not known everywhere. */
  readonly hostAuthority?: string | undefined;
}

/** One gate per thread. It outlives a crash of the thread's sandbox, so that a reboot does not reset the rate. */
export class EgressGates {
  private readonly gates = new Map<string, EgressGate>();
  private readonly lists = new Map<string, HostList>();

  /** `secrets` where the sandboxes go out through a proxy of this process. */
  constructor(
    readonly rules: EgressRules,
    readonly secrets?: EgressSecrets,
  ) {}

  of(threadId: string): EgressGate {
    const list = this.lists.get(threadId) ?? {};
    this.lists.set(threadId, list);
    const gate = this.gates.get(threadId) ?? new EgressGate(this.rules, this.findSecrets(threadId), list);
    this.gates.set(threadId, gate);
    return gate;
  }

  /** Of a sandbox that sleeps: when it wakes, it may reach what it could before. */
  remove(threadId: string): void {
    this.gates.delete(threadId);
    if (this.lists.get(threadId)?.hosts === undefined) this.lists.delete(threadId);
  }

  /** Of a sandbox that is gone. */
  forget(threadId: string): void {
    this.gates.delete(threadId);
    this.lists.delete(threadId);
  }

  private findSecrets(threadId: string): SandboxSecrets | undefined {
    return this.secrets && new SandboxSecrets(threadId, this.secrets);
  }
}
