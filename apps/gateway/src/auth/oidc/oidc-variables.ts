import { commaSeparated } from '@rondo/platform';
import { z } from 'zod';

const loopback = ['localhost', '127.0.0.1', '[::1]'];

/** A token could be read, and keys replaced, on the way. */
const isPrivateOnTheWay = (text: string): boolean => {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && loopback.includes(hostname));
};

/** Of an outside issuer of tokens: who may sign in, and as what. */
export const oidcVariables = {
  OIDC_ISSUER: z.url().refine(isPrivateOnTheWay, 'must begin with https://').optional().meta({
    description:
      'The issuer of OpenID Connect whose tokens are accepted beside API keys, as its tokens name it in `iss`.',
    example: 'https://login.example.com/realms/main',
    otherwise: 'only API keys are accepted',
  }),
  OIDC_AUDIENCE: commaSeparated.pipe(z.array(z.string()).min(1)).optional().meta({
    description: 'What a token must name in `aud`, one of these, separated by commas. OIDC_ISSUER needs it.',
    example: 'rondo',
    otherwise: 'there is no OIDC_ISSUER',
  }),
  OIDC_ACCOUNT_CLAIM: z
    .string()
    .min(1)
    .default('rondo_account')
    .describe('The claim of a token that names the account, by its id: `acc_…`.'),
  OIDC_ROLE_CLAIM: z
    .string()
    .min(1)
    .default('rondo_role')
    .describe('The claim with the role: `owner`, `member` or `viewer`, or a list of which the highest counts.'),
  OIDC_CLOCK_SKEW_S: z.coerce.number().min(0).max(300).default(60).meta({
    description: 'By how much the clock of the issuer may differ.',
    unit: 's',
  }),
  OIDC_MAY_OPERATE: z
    .stringbool()
    .prefault('0')
    .meta({
      description:
        'Whether a token may name the account of the operator. Its owners see and change every account, so with `1` the issuer ' +
        'decides who operates this deployment.',
      example: '1',
      otherwise: 'tokens that name it are refused',
    }),
};

export const issuerNeedsAudience = z.refine<{ OIDC_ISSUER?: string | undefined; OIDC_AUDIENCE?: string[] | undefined }>(
  ({ OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience }) => issuer === undefined || audience !== undefined,
  {
    path: ['OIDC_AUDIENCE'],
    error: 'is needed with OIDC_ISSUER: without it, tokens for other services would be accepted',
  },
);

export interface OidcSettings {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly accountClaim: string;
  readonly roleClaim: string;
  readonly clockSkewS: number;
  /** Whether a token may name the account of the operator. */
  readonly mayOperate: boolean;
}

type OidcConfig = z.infer<z.ZodObject<typeof oidcVariables>>;

/** Undefined unless an issuer is configured. */
export const oidcSettings = (config: OidcConfig): OidcSettings | undefined =>
  config.OIDC_ISSUER === undefined
    ? undefined
    : {
        issuer: config.OIDC_ISSUER,
        audience: config.OIDC_AUDIENCE ?? [],
        accountClaim: config.OIDC_ACCOUNT_CLAIM,
        roleClaim: config.OIDC_ROLE_CLAIM,
        clockSkewS: config.OIDC_CLOCK_SKEW_S,
        mayOperate: config.OIDC_MAY_OPERATE,
      };
