import { type AccountId, type UserId, accountId, userId } from '@rondo/contract';
import { type Caller, operatorAccount } from '@rondo/persistence';
import type { OutboundProxy } from '@rondo/platform';
import { type JWTPayload, decodeJwt, errors, jwtVerify } from 'jose';
import { ApiError, retryAfter, refuseUnauthorized } from '../../problems/api-error';
import { IssuerKeys } from './issuer-keys';
import type { OidcSettings } from './oidc-variables';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Scope } from '../api-request';

/** Only signatures that need the issuer's private key: with `HS…` its public one would do, with `none` no key at all. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

const maxLength = 16_384;
const jwtPattern = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

interface TokenParts {
  readonly settings: OidcSettings;
  readonly proxy?: OutboundProxy | undefined;
  readonly isActive: (account: AccountId) => Promise<boolean>;
  readonly onError: (error: unknown) => void;
}

/** Tokens of the outside issuer, as the callers that they stand for. */
export class OutsideTokens {
  private readonly keys: IssuerKeys;

  constructor(private readonly parts: TokenParts) {
    this.keys = new IssuerKeys(parts.settings.issuer, parts.proxy);
  }

  /** Whether it has the form of a token. API keys have no dots. */
  recognizes(secret: string): boolean {
    return jwtPattern.test(secret);
  }

  /** Whether it says that it is of the issuer. It is not verified, so this decides over no access. */
  claimsIssuer(secret: string): boolean {
    try {
      return this.recognizes(secret) && decodeJwt(secret).iss === this.parts.settings.issuer;
    } catch {
      return false; // it only looks like a token
    }
  }

  /** Rejects with `unauthorized` and the reason, or with `service_unavailable` while the issuer cannot be asked for its keys. */
  async verify(token: string): Promise<Caller> {
    const payload = await this.readPayload(token);
    const caller = tokenCaller(payload, this.parts.settings);
    if ('problem' in caller) throw refuseToken(caller.problem);
    if (!(await this.parts.isActive(caller.accountId))) throw refuseToken(`There is no account ${caller.accountId}.`);
    return { ...caller, expiresAt: this.readExpiry(payload) };
  }

  /** With the tolerance for clocks that differ, so that a token does not end earlier where it is known already. */
  private readExpiry({ exp = 0 }: JWTPayload): Date {
    const until = new Date((exp + this.parts.settings.clockSkewS) * 1000);
    if (Number.isNaN(until.getTime())) throw refuseToken('Its claim exp is no date.');
    return until;
  }

  private async readPayload(token: string): Promise<JWTPayload> {
    const { issuer, audience, clockSkewS } = this.parts.settings;
    if (token.length > maxLength) throw refuseToken('It is too long.');
    try {
      const { payload } = await jwtVerify(token, this.keys.find, {
        ...{ issuer, algorithms, audience: [...audience] },
        clockTolerance: clockSkewS,
        requiredClaims: ['sub', 'exp'],
      });
      return payload;
    } catch (error) {
      const reason = findReason(error);
      if (reason !== undefined) throw refuseToken(reason);
      this.parts.onError(error);
      throw new ApiError(
        'service_unavailable',
        'The issuer of tokens cannot be reached, so tokens cannot be checked now. API keys are accepted.',
        retryAfter(5),
      );
    }
  }
}

const refuseToken = (reason: string): ApiError => refuseUnauthorized(`The token is not accepted. ${reason}`);

/** What is wrong with the token; undefined for what is wrong with the issuer. */
function findReason(error: unknown): string | undefined {
  if (error instanceof errors.JWTExpired) return 'It has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) return `Its claim ${error.claim} is missing or wrong.`;
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported)
    return 'It is signed by an algorithm that is not accepted.';
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return 'It is signed by a key that the issuer does not have.';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'Its signature is wrong.';
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return 'It cannot be read.';
  return undefined;
}

const role = z.enum(['owner', 'member', 'viewer']);
type Role = z.infer<typeof role>;

/** From the highest one down. */
const scopeByRole: Record<Role, Scope> = { owner: 'admin', member: 'write', viewer: 'read' };

interface TokenCaller {
  readonly accountId: AccountId;
  readonly keyId: UserId;
  readonly scopes: readonly Scope[];
}

/** Whom a valid token stands for, or what it lacks. */
function tokenCaller(
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
