import { randomBytes } from 'node:crypto';
import {
  type AccountId,
  type RunId,
  type SecretPolicy,
  type SecretRefusal,
  approvalId,
  isAllowedTarget,
  secretId,
  secretPurpose,
  secretUseId,
} from '@rondo/contract';
import type { SecretAnswer, SecretQuestion } from '@rondo/messaging';
import { SecretBox, newUlid } from '@rondo/platform';
import { AskedSecrets } from '../secret-source';

interface Held extends SecretPolicy {
  readonly id: string;
  readonly sealed: string;
  readonly account: AccountId;
}

interface HeldUse {
  readonly name: string;
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly refusal: SecretRefusal | null;
  status: number | null;
}

/** Secrets in memory, about which it answers as a worker does. */
export class HeldSecrets {
  readonly uses: HeldUse[] = [];
  private readonly held = new Map<string, Held>();
  private readonly ofRuns = new Map<RunId, readonly string[]>();
  private readonly refusals = new Map<string, SecretRefusal>();
  private readonly noted = new Map<string, HeldUse>();
  private readonly box = new SecretBox(randomBytes(32).toString('base64'), 'mcp');
  /** Names of secrets that a person has not decided about. */
  private readonly awaited = new Set<string>();
  private readonly heard = new Map<string, () => void>();
  /** A request is held for two seconds. */
  readonly source = new AskedSecrets({
    ...{ box: this.box, heldMs: 2_000 },
    ask: (question) => Promise.resolve(this.answer(question)),
  });

  add(account: AccountId, name: string, { value, ...policy }: SecretPolicy & { readonly value: string }): void {
    const id = secretId.parse(`sec_${newUlid()}`);
    const sealed = this.box.seal(value, secretPurpose(account, id));
    this.held.set(name, { ...policy, id, sealed, account });
  }

  /** The run names these. */
  allow(run: RunId, ...names: readonly string[]): void {
    this.ofRuns.set(run, names);
  }

  /** The next request asks a person, who decides with `decide`. */
  requireApproval(name: string): void {
    this.awaited.add(name);
  }

  /** Resolves when a request waits for it. */
  asked(name: string): Promise<void> {
    return new Promise((resolve) => this.heard.set(name, resolve));
  }

  decide(name: string, decision: 'approve' | 'deny'): void {
    this.awaited.delete(name);
    this.refuse(name, decision === 'deny' ? 'denied' : undefined);
  }

  refuse(name: string, refusal: SecretRefusal | undefined): void {
    if (refusal === undefined) this.refusals.delete(name);
    else this.refusals.set(name, refusal);
  }

  private answer(question: SecretQuestion): SecretAnswer {
    if (question.ask === 'note') {
      const use = this.noted.get(question.use_id);
      if (use) use.status = question.status;
      return { how: 'noted' };
    }
    const names = question.run_id === null ? [] : (this.ofRuns.get(question.run_id) ?? []);
    if (question.ask === 'open') return this.open(question, names);
    const secrets = names.flatMap((name) => {
      const held = this.held.get(name);
      return held ? [{ name, ...held }] : [];
    });
    return { how: 'granted', secrets };
  }

  private open(
    { name, request, account_id: account }: Extract<SecretQuestion, { ask: 'open' }>,
    names: readonly string[],
  ): SecretAnswer {
    const held = this.held.get(name);
    const { protocol, host, port, method, path } = request;
    const refusal = ((): SecretRefusal | null => {
      if (!held || held.account !== account) return 'revoked';
      if (!names.includes(name)) return 'not_named';
      if (!isAllowedTarget(held.allowed_hosts, { protocol, hostname: host, port })) return 'host';
      if (!(held.methods as readonly string[]).includes(method)) return 'method';
      return this.refusals.get(name) ?? null;
    })();
    if (refusal === null && this.awaited.has(name)) {
      this.heard.get(name)?.();
      return { how: 'awaits', approval_id: approvalId.parse('apr_1') };
    }
    const use: HeldUse = { name, host, method, path, refusal, status: null };
    this.uses.push(use);
    if (!held || refusal !== null) return { how: 'refused', refusal: refusal ?? 'revoked' };
    const useId = secretUseId.parse(`use_${newUlid()}`);
    this.noted.set(useId, use);
    const { placement, sealed } = held;
    return { how: 'opened', use_id: useId, secret_id: secretId.parse(held.id), account_id: account, sealed, placement };
  }
}
