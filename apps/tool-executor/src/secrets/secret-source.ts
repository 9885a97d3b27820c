import { setTimeout as delay } from 'node:timers/promises';
import {
  type AccountId,
  type ApprovalId,
  type CallId,
  type RunId,
  type SecretPlacement,
  type SecretRefusal,
  type SecretRequest,
  type ConnectionOwner,
  type SecretUse,
  mcpTokenPurpose,
  secretPurpose,
} from '@rondo/contract';
import type { GrantedSecret, McpTokenAnswer, McpTokenQuestion, SecretAnswer, SecretQuestion } from '@rondo/messaging';
import { OutboundRefusal, SealBroken, type SecretBox } from '@rondo/platform';

/** Who would send a secret. */
export interface SecretUser {
  readonly account: AccountId;
  /** Null: a server is looked at that no run uses yet. */
  readonly run: RunId | null;
  readonly call: CallId | null;
}

export interface SecretOrder extends SecretUser, Pick<SecretUse, 'name' | 'via'> {
  readonly request: SecretRequest;
  /** Aborted when the client of the request waits no more. */
  readonly signal?: AbortSignal | undefined;
}

/** The value for one request. It stays in this process, and goes to the host of that request. */
export interface OpenSecret {
  readonly value: string;
  readonly placement: SecretPlacement;
  /** Records what the host answered. Waits for nothing. */
  readonly answered: (status: number) => void;
}

/** The request may not carry the secret. The message is for the command, or the model, to read. */
export class SecretRefused extends OutboundRefusal {
  override readonly name = 'SecretRefused';
}

/** A request to an MCP server whose token it would carry. */
export interface TokenOrder extends SecretUser {
  readonly url: string;
  readonly owner: ConnectionOwner;
  /** The version of the token that the server has refused. */
  readonly refused?: number | undefined;
  /** That the server wants for the request, and this token has not. */
  readonly scopes?: readonly string[] | undefined;
}

export interface OpenToken {
  readonly value: string;
  readonly version: number;
}

/** A person has to connect the server before anything is sent to it, or to allow it more than before. */
export class ConnectionMissing extends OutboundRefusal {
  override readonly name = 'ConnectionMissing';

  /** `page`: where they do. Null where no one can be asked. `scopes`: that are wanted besides. */
  constructor(
    readonly page: string | null,
    readonly scopes?: readonly string[],
  ) {
    super(
      scopes
        ? `It wants a token with more scopes (${scopes.join(' ')}), which a person has to allow, with \`rondo mcp connect --scope\`.`
        : 'It has to be connected by a person first, with POST /v1/mcp-connections or `rondo mcp connect`.',
    );
  }
}

/** Secrets as this process gets them: for one request each, and never before it. */
export interface SecretSource {
  /** Those that the run names and that there are. Undefined where no worker answers. */
  findGranted(run: RunId): Promise<readonly GrantedSecret[] | undefined>;
  /** Rejects with SecretRefused. */
  open(order: SecretOrder): Promise<OpenSecret>;
  /** The token for one request to an MCP server. Rejects with ConnectionMissing, or with SecretRefused. */
  openToken(order: TokenOrder): Promise<OpenToken>;
  /** The values that this process has opened for the account, which answers must not show. */
  listOpened(account: AccountId): readonly string[];
}

interface SourceParts {
  /** How long a request may wait for a person. */
  readonly heldMs?: number;
  /** Undefined where no worker answers. */
  readonly ask: (question: SecretQuestion) => Promise<SecretAnswer | undefined>;
  /** The same of gateways, which keep the tokens of MCP servers. */
  readonly askToken?: (question: McpTokenQuestion) => Promise<McpTokenAnswer | undefined>;
  /** Absent: this executor has no SECRETS_KEY. */
  readonly box: Pick<SecretBox, 'open'> | undefined;
}

/** Less than an idle connection of a sandbox is kept: its command reads why, and can try again. */
const longestHeldMs = 45_000;
const betweenQuestionsMs = 500;

const waits = (name: string, approval: ApprovalId): string =>
  `A person has to allow this run to use the secret ${name} (${approval}), and has not decided yet. The request was not sent. Try again later.`;

/** How many values of an account are kept to be masked, the newest. */
const mostKept = 200;

/** Asks a worker about each request: nothing is kept that would let a revoked secret through. */
export class AskedSecrets implements SecretSource {
  private readonly opened = new Map<AccountId, Map<string, string>>();

  constructor(private readonly parts: SourceParts) {}

  async findGranted(run: RunId): Promise<readonly GrantedSecret[] | undefined> {
    const answer = await this.parts.ask({ ask: 'grants', run_id: run });
    return answer?.how === 'granted' ? answer.secrets : undefined;
  }

  async open(order: SecretOrder): Promise<OpenSecret> {
    const { account, name } = order;
    const answer = await this.waitForDecision(order);
    if (answer?.how === 'refused')
      throw new SecretRefused(
        `The secret ${name} ${says[answer.refusal]}${answer.reason ? `: ${answer.reason}` : '.'}`,
      );
    if (answer?.how !== 'opened') throw new SecretRefused(`The secret ${name} cannot be had now. Try again later.`);
    const { use_id: useId, secret_id: secret, account_id: owner, sealed, placement } = answer;
    const value = this.read(name, sealed, secretPurpose(owner, secret));
    this.keep(account, secret, value);
    const answered = (status: number) => void this.parts.ask({ ask: 'note', use_id: useId, status });
    return { value, placement, answered };
  }

  async openToken({ account, run, call, url, owner, refused, scopes }: TokenOrder): Promise<OpenToken> {
    const asked = { account_id: account, run_id: run, call_id: call, url, owner };
    const answer = await this.parts.askToken?.({
      ...asked,
      ...(refused !== undefined && { refused }),
      ...(scopes && { scopes: [...scopes] }),
    });
    if (answer?.how === 'missing') throw new ConnectionMissing(answer.page, scopes);
    if (answer?.how === 'refused') throw new SecretRefused(`Its token cannot be used: ${answer.reason}.`);
    if (answer?.how !== 'token') throw new SecretRefused('Its token cannot be had now. Try again later.');
    const value = this.read('of the connection', answer.sealed, mcpTokenPurpose(account, url));
    this.keep(account, `token ${url}`, value);
    return { value, version: answer.version };
  }

  /** Holds the request while a person has to decide, also past the end of the worker that has asked. */
  private async waitForDecision({ account, run, call, name, via, request, signal }: SecretOrder) {
    const { ask, heldMs = longestHeldMs } = this.parts;
    const asked = { account_id: account, run_id: run, call_id: call, name, via, request };
    const until = performance.now() + heldMs;
    let awaited: ApprovalId | undefined;
    for (;;) {
      const answer = await ask({ ask: 'open', ...asked });
      if (answer?.how === 'awaits') awaited = answer.approval_id;
      else if (answer || !awaited) return answer;
      if (signal?.aborted === true || performance.now() > until) throw new SecretRefused(waits(name, awaited));
      await delay(betweenQuestionsMs, undefined, { signal }).catch(() => undefined); // then it is refused
    }
  }

  listOpened(account: AccountId): readonly string[] {
    return [...(this.opened.get(account)?.values() ?? [])];
  }

  private read(name: string, sealed: string, purpose: string): string {
    const { box } = this.parts;
    if (!box) throw new SecretRefused(`The secret ${name} cannot be opened: this executor has no SECRETS_KEY.`);
    try {
      return box.open(sealed, purpose);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      throw new SecretRefused(`The secret ${name} cannot be opened: it was sealed with another SECRETS_KEY.`);
    }
  }

  /** By its value, so that a former one that a host still knows is masked, too. */
  private keep(account: AccountId, secret: string, value: string): void {
    const values = this.opened.get(account) ?? new Map<string, string>();
    const key = `${secret} ${value}`;
    values.delete(key);
    values.set(key, value);
    if (values.size > mostKept) values.delete([...values.keys()][0] ?? '');
    this.opened.set(account, values);
  }
}

const says: Readonly<Record<SecretRefusal, string>> = {
  revoked: 'does not exist, or was revoked',
  expired: 'has expired',
  host: 'may not be sent to this host',
  method: 'may not be used with this method',
  run_over: 'may not be used any more: the run is over',
  not_named: 'is not among the secrets of this run',
  denied: 'may not be used by this run: a person denied it',
  not_approved: 'may not be used by this run: no person has allowed it in time',
};
