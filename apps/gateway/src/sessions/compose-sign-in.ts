import { type AccountId, accountId, apiKeyId, clientTokenId, sessionId } from '@rondo/contract';
import type { Accounts, ClientTokens, Sessions } from '@rondo/persistence';
import { OutboundProxy } from '@rondo/platform';
import { Authenticator, CallerCache } from '../auth/authenticator';
import type { DeploymentOperator } from '../auth/deployment-operator';
import { oidcSettings } from '../auth/oidc/oidc-variables';
import { OutsideTokens } from '../auth/oidc/outside-tokens';
import { KeyUses } from '../auth/key-uses';
import { type CredentialId, OpenConnections, Revocations } from '../auth/open-connections';
import { RateLimiter } from '../auth/rate-limiter';
import type { GatewayConfig } from '../config';
import { SessionService } from './session-service';

interface SignInAdapters {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly clientTokens: ClientTokens;
  readonly operator: Pick<DeploymentOperator, 'includes'>;
}

const secondsPerHour = 3_600;
const secondsPerMinute = 60;
/** A client token is looked up again after this time, so that a revoked one fails within a second on every gateway. */
const clientTokenMs = 900;

/** All that finds out who a request is made by, and that takes it back. */
export function composeSignIn(
  { accounts, sessions, clientTokens, operator }: SignInAdapters,
  config: GatewayConfig,
  warn: (message: string) => (error: unknown) => void,
) {
  const tokens = findTokens(accounts, config, warn('token of an outside issuer not checked'));
  const keyUses = new KeyUses({ accounts, sessions, onError: warn('uses of keys not written') });
  const verify = async (secret: string) =>
    tokens?.recognizes(secret) ? tokens.verify(secret) : keyUses.note(await accounts.verify(secret));
  const isOwnSecret = (text: string) =>
    text.startsWith('rondo_') || text === config.RONDO_ADMIN_KEY || tokens?.claimsIssuer(text) === true;
  const keys = new CallerCache(verify);
  const clients = new CallerCache((secret) => clientTokens.verify(secret), clientTokenMs);
  const browsers = new CallerCache(async (secret) => keyUses.note(await sessions.verify(secret)));
  const perAddress = () => new RateLimiter(config.HANDSHAKES_PER_SECOND, { policy: 'address' });
  const authenticator = new Authenticator({
    ...{ keys, clients, sessions: browsers, handshakes: perAddress(), failures: perAddress() },
    trustedHops: config.TRUSTED_PROXY_HOPS,
  });
  const readRevoked = async (ids: readonly CredentialId[]) => {
    const [keyIds, sessionIds] = [ids.flatMap((id) => only(apiKeyId, id)), ids.flatMap((id) => only(sessionId, id))];
    const tokenIds = ids.flatMap((id) => only(clientTokenId, id));
    const accountIds = ids.flatMap((id) => only(accountId, id));
    return [
      ...(accountIds.length > 0 ? await accounts.readRemoved(accountIds) : []),
      ...(keyIds.length > 0 ? await accounts.readRevoked(keyIds) : []),
      ...(sessionIds.length > 0 ? await sessions.readEnded(sessionIds) : []),
      ...(tokenIds.length > 0 ? await clientTokens.readRevoked(tokenIds) : []),
    ];
  };
  const connections = new OpenConnections(readRevoked, warn('keys of open connections not checked'));
  const revocations = new Revocations([keys, clients, browsers], connections);
  const sessionService = new SessionService({
    ...{ sessions, revocations, operator },
    sessionSeconds: config.SESSION_HOURS * secondsPerHour,
    linkSeconds: config.SESSION_LINK_MINUTES * secondsPerMinute,
  });
  return { keys, keyUses, isOwnSecret, authenticator, connections, revocations, sessionService };
}

/** Undefined unless an outside issuer is configured. */
function findTokens(
  accounts: Pick<Accounts, 'isActive'>,
  config: GatewayConfig,
  onError: (error: unknown) => void,
): OutsideTokens | undefined {
  const settings = oidcSettings(config);
  const isActive = (id: AccountId) => accounts.isActive(id);
  return settings && new OutsideTokens({ settings, proxy: OutboundProxy.from(config), isActive, onError });
}

interface IdSchema<Id> {
  safeParse(text: string): { success: true; data: Id } | { success: false };
}

/** The id if it is of this kind. */
function only<Id>(schema: IdSchema<Id>, id: string): Id[] {
  const parsed = schema.safeParse(id);
  return parsed.success ? [parsed.data] : [];
}
