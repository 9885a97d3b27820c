import { createHash } from 'node:crypto';
import { type AccountId, type UserId, accountId, userId } from '@rondo/contract';
import { operatorAccount } from '@rondo/persistence';
import type { JWTPayload } from 'jose';
import { z } from 'zod';
import type { Scope } from '../scopes';
import type { OidcSettings } from './oidc-variables';

const role = z.enum(['owner', 'member', 'viewer']);
type Role = z.infer<typeof role>;

/** From the highest one down. */
const scopeByRole: Record<Role, Scope> = { owner: 'admin', member: 'write', viewer: 'read' };

export interface TokenCaller {
  readonly accountId: AccountId;
  readonly keyId: UserId;
  readonly scopes: readonly Scope[];
}

/** Whom a valid token stands for, or what it lacks. */
export function tokenCaller(
  payload: JWTPayload,
  { accountClaim, roleClaim, mayOperate }: Pick<OidcSettings, 'accountClaim' | 'roleClaim' | 'mayOperate'>,
): TokenCaller | { readonly problem: string } {
  const account = accountId.safeParse(payload[accountClaim]);
  if (!account.success) return { problem: `Its claim ${accountClaim} names no account.` };
  if (account.data === operatorAccount && !mayOperate)
    return { problem: `Its claim ${accountClaim} names the account of the operator, which takes API keys only.` };
  if (payload.sub === '') return { problem: 'Its claim sub names no user.' };
  const named = [payload[roleClaim]].flat();
  const highest = role.options.find((one) => named.includes(one));
  if (highest === undefined) return { problem: `Its claim ${roleClaim} names no role: ${role.options.join(', ')}.` };
  return { accountId: account.data, keyId: toUser(payload), scopes: [scopeByRole[highest]] };
}

/** The same person at the same issuer is always the same user. */
function toUser({ iss, sub }: JWTPayload): UserId {
  const digest = createHash('sha256')
    .update(JSON.stringify([iss, sub]))
    .digest('hex');
  return userId.parse(`usr_${digest.slice(0, 40)}`);
}
