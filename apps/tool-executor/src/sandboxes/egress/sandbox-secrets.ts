import { createHmac } from 'node:crypto';
import { type AccountId, type CallId, type RunId, type SecretTarget, isAllowedTarget } from '@rondo/contract';
import type { GrantedSecret } from '@rondo/messaging';
import { type RequestHead, hasPlaceholder, placeSecret } from '../../secrets/place-secret';
import { type OpenSecret, SecretRefused, type SecretSource } from '../../secrets/secret-source';
import { SandboxError } from '../provider/sandbox-error';
import { toForms } from './secret-forms';
import { SecretMask } from './secret-mask';

/** The call for which a command is about to run. */
export interface GrantedCall {
  readonly account: AccountId;
  readonly run: RunId;
  readonly call: CallId | null;
}

interface Grant extends GrantedCall {
  readonly secrets: readonly GrantedSecret[];
}

interface Asked {
  readonly target: SecretTarget;
  readonly method: string;
  /** Aborted when the command waits no more. */
  readonly signal: AbortSignal;
}

/** A request whose placeholders are values now. */
export interface FilledRequest {
  readonly head: RequestHead;
  readonly used: readonly OpenSecret[];
}

/**
 * What the commands of one sandbox may use. They have placeholders in their environment: texts that are worth nothing outside of
 * this sandbox, and nothing in it but on the way to the hosts of the secret.
 */
export class SandboxSecrets {
  private readonly grants = new Map<string, Grant>();
  /** Of all grants that there were. */
  private readonly accounts = new Set<AccountId>();
  private readonly usernames = new Set<string>();
  private masked: { readonly texts: readonly string[]; readonly forms: readonly string[] } = { texts: [], forms: [] };
  /** Masks every value that was opened for these accounts, in the forms in which hosts write them back. */
  readonly mask = new SecretMask(() => this.listForms());

  constructor(
    private readonly threadId: string,
    private readonly parts: { readonly source: SecretSource; readonly key: Buffer },
  ) {}

  /** Learns what the run may use now. Rejects while no worker answers: a command would send its requests without the secrets. */
  async grant(call: GrantedCall): Promise<readonly GrantedSecret[]> {
    const secrets = await this.parts.source.findGranted(call.run);
    if (!secrets)
      throw new SandboxError(
        'unavailable',
        'Not executed: no worker answers which secrets the run may use. Try again.',
      );
    this.grants.delete(call.run); // the newest is the last
    if (secrets.length === 0) return secrets;
    this.grants.set(call.run, { ...call, secrets });
    this.accounts.add(call.account);
    for (const { placement } of secrets) if (placement.in === 'basic') this.usernames.add(placement.username);
    return secrets;
  }

  /** Nothing that the run has left running may use them. */
  end(run: string): void {
    this.grants.delete(run);
  }

  /** The variables of the run's commands. Undefined where it may use no secret. */
  placeholders(run: string | undefined): Record<string, string> | undefined {
    const grant = run === undefined ? undefined : this.grants.get(run);
    return grant && Object.fromEntries(grant.secrets.map(({ name }) => [name, this.placeholder(name)]));
  }

  /** Whether requests to this host are looked into. */
  covers(target: SecretTarget): boolean {
    return [...this.grants.values()].some(({ secrets }) =>
      secrets.some(({ allowed_hosts: hosts }) => isAllowedTarget(hosts, target)),
    );
  }

  /** Rejects with SecretRefused where a placeholder must not become its value. A request without one stays as it is. */
  async fill(head: RequestHead, { target, method, signal }: Asked): Promise<FilledRequest> {
    let filled: FilledRequest = { head, used: [] };
    for (const [name, grant] of this.newestByName()) {
      const placeholder = this.placeholder(name);
      if (!hasPlaceholder(filled.head, placeholder)) continue;
      const { account, run, call } = grant;
      const path = (head.target.split('?')[0] ?? '').slice(0, 2_000);
      const request = { protocol: target.protocol, host: target.hostname, port: target.port, method, path };
      requirePlace(filled.head, { name, placeholder, grant });
      const secret = await this.parts.source.open({ account, run, call, name, via: 'sandbox', request, signal });
      const placed = placeSecret(filled.head, placeholder, secret);
      if (!placed) throw refuseMisplaced(name);
      filled = { head: placed, used: [...filled.used, secret] };
    }
    return filled;
  }

  private listForms(): readonly string[] {
    const { usernames } = this;
    const values = [...this.accounts].flatMap((account) => this.parts.source.listOpened(account));
    const texts = [...usernames, ...values];
    if (!isSame(texts, this.masked.texts)) {
      const forms = values.flatMap((value) =>
        [undefined, ...usernames].flatMap((username) => toForms(value, username)),
      );
      this.masked = { texts, forms };
    }
    return this.masked.forms;
  }

  private newestByName(): ReadonlyMap<string, Grant> {
    return new Map(
      [...this.grants.values()].flatMap((grant) => grant.secrets.map(({ name }) => [name, grant] as const)),
    );
  }

  private placeholder(name: string): string {
    const token = createHmac('sha256', this.parts.key).update(`${this.threadId}\n${name}`).digest('hex').slice(0, 40);
    return `rondo_secret_${token}`;
  }
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, at) => text === other[at]);

/** Before it is opened: what is at the wrong place uses nothing. */
function requirePlace(
  head: RequestHead,
  { name, placeholder, grant }: { readonly name: string; readonly placeholder: string; readonly grant: Grant },
): void {
  const placement = grant.secrets.find((secret) => secret.name === name)?.placement;
  if (placement && !placeSecret(head, placeholder, { value: '', placement })) throw refuseMisplaced(name);
}

const refuseMisplaced = (name: string): SecretRefused =>
  new SecretRefused(`The placeholder of the secret ${name} stands where the secret does not go: see its placement.`);
