import type { AccountId, InputBlock, QuotaName, Quotas } from '@rondo/contract';
import type { AccountTier } from '@rondo/domain';
import { type QuotaBounds, QuotaReached, type QuotaUsage } from '@rondo/persistence';
import { LruCache } from '@rondo/platform';
import { QuotaExceeded } from '../problems/api-error';
import { AccountTurns } from './account-turns';

/** What an account may have of each. */
export type QuotaLimits = Readonly<Record<QuotaName, number>>;

/** Those that the database counts, which requests add to. */
type StoredQuota = Exclude<QuotaName, 'waiting_call_bytes'>;

/** The amounts that a request adds, as far as they are known before it is carried out. It is refused where nothing is left. */
export type AddedAmounts = Partial<Readonly<Record<StoredQuota, number>>>;

/** What a message adds. Its images are measured as they are sent, though equal ones are stored once. */
export function measureContent(content: readonly InputBlock[]): AddedAmounts {
  let [text, images] = [0, 0];
  for (const block of content) {
    if (block.type === 'text') text += block.text.length;
    else images += block.source.type === 'base64' ? (block.source.data.length * 3) / 4 : 0;
  }
  const hasImages = content.some(({ type }) => type === 'image');
  return { message_bytes: text, ...(hasImages && { image_bytes: images }) };
}

interface AccountQuotasParts {
  /** Of accounts whose tier sets no others. */
  readonly limits: QuotaLimits;
  readonly readUsage: (account: AccountId) => Promise<QuotaUsage>;
  /** Asked of an account whose minutes are limited. */
  readonly readRunMinutes: (account: AccountId) => Promise<number>;
  /** The bytes of its tool calls that are not answered yet. Undefined while that cannot be read. */
  readonly readWaitingCallBytes: (account: AccountId) => Promise<number | undefined>;
  /** What earlier states of files take, and may take. Undefined where none are kept. */
  readonly measureKeptFiles: (account: AccountId) => Promise<Quotas[string] | undefined>;
  /** Undefined without tiers. */
  readonly readTier: (account: AccountId) => Promise<AccountTier | undefined>;
  /** Called when a usage could not be read again; the one before is used meanwhile. */
  readonly onError: (error: unknown) => void;
  readonly nowMs?: () => number;
}

interface KnownUsage {
  readonly limits: QuotaLimits;
  readonly used: Readonly<Record<StoredQuota, number>>;
  /** By this process, since the use was read. */
  readonly added: Partial<Record<StoredQuota, number>>;
  readonly readAt: number;
}

/** A usage this old is read anew, without waiting for it, while less than half of a quota is used. */
const freshMs = 60_000;

/** The same, waiting for it, while more is used. */
const freshNearLimitMs = 5_000;

/** A refusal rests on what was read this recently, so that what was deleted is soon free. */
const freshAtLimitMs = 1_000;

const mostAccounts = 10_000;

/**
 * While an account has no more than this left, the transaction that writes also counts. It is more than other gateways add before
 * they read again, as they do after having added as much.
 */
const countedBelow = {
  api_keys: countBelow,
  threads: countBelow,
  message_bytes: () => 64 * 1024 ** 2,
  image_bytes: () => 64 * 1024 ** 2,
} as const satisfies Partial<Record<StoredQuota, (limit: number) => number>>;

function countBelow(limit: number): number {
  return Math.max(100, limit / 10);
}

type CountedQuota = keyof typeof countedBelow;

const isCounted = (name: StoredQuota): name is CountedQuota => name in countedBelow;

/**
 * What an account may have of things that stay: it is counted in Postgres once a minute, and between by what this process adds.
 * So a request costs no count until little is left. Then it is counted where it is written, by all gateways in turn.
 */
export class AccountQuotas {
  private readonly turns = new AccountTurns();
  private readonly known = new LruCache<AccountId, KnownUsage>(mostAccounts);
  private readonly reading = new Map<AccountId, Promise<KnownUsage>>();

  constructor(private readonly parts: AccountQuotasParts) {}

  private nowMs(): number {
    return (this.parts.nowMs ?? performance.now.bind(performance))();
  }

  /**
   * Writes what adds to an account: within the bounds, where it gets some. Rejects with QuotaExceeded, and with
   * `service_unavailable` where the turn of the account does not come in time.
   */
  async within<Written>(
    account: AccountId,
    amounts: AddedAmounts,
    write: (bounds?: QuotaBounds) => Promise<Written>,
  ): Promise<Written> {
    const names = Object.keys(amounts) as StoredQuota[]; // the keys of AddedAmounts
    let usage = await this.findUsage(account, names);
    const isFull = (name: StoredQuota) => usage.used[name] >= usage.limits[name];
    if (names.some(isFull)) usage = await this.findUsage(account, names, freshAtLimitMs);
    const full = names.find(isFull);
    if (full !== undefined) throw new QuotaExceeded(full, { used: usage.used[full], limit: usage.limits[full] });
    for (const name of names) usage.added[name] = (usage.added[name] ?? 0) + (amounts[name] ?? 0);
    const bounds = toBounds(usage, names);
    if (!bounds) return write();
    return this.turns
      .run(account, () => write(bounds))
      .catch((error: unknown) => {
        throw error instanceof QuotaReached ? new QuotaExceeded(error.quota, error) : error;
      });
  }

  /** Whether the account has as much as it may. */
  async isFull(account: AccountId, name: StoredQuota): Promise<boolean> {
    const { used, limits } = await this.findUsage(account, [name]);
    return used[name] >= limits[name];
  }

  async readLimit(account: AccountId, name: StoredQuota): Promise<number> {
    return (await this.findUsage(account, [name])).limits[name];
  }

  /** As it is now. Without what has no limit, and what cannot be read at the moment. */
  async readQuotas(account: AccountId): Promise<Quotas> {
    const [{ used, limits }, waiting, kept] = await Promise.all([
      this.read(account),
      this.parts.readWaitingCallBytes(account),
      this.parts.measureKeptFiles(account),
    ]);
    const stored = Object.entries(used) as [StoredQuota, number][]; // the keys of KnownUsage
    const quotas: Quotas = Object.fromEntries(
      stored
        .filter(([name]) => limits[name] !== Infinity)
        .map(([name, amount]) => [name, { used: amount, limit: limits[name] }]),
    );
    return {
      ...quotas,
      ...(waiting !== undefined && { waiting_call_bytes: { used: waiting, limit: limits.waiting_call_bytes } }),
      ...(kept && { rewind_bytes: kept }),
    };
  }

  private async findUsage(
    account: AccountId,
    names: readonly StoredQuota[],
    mostAgeMs = Infinity,
  ): Promise<KnownUsage> {
    const known = this.known.get(account);
    if (!known) return this.read(account);
    const ageMs = this.nowMs() - known.readAt;
    const isNearLimit = names.some((name) => 2 * sumUse(known, name) > known.limits[name]);
    if (ageMs > Math.min(mostAgeMs, isNearLimit ? freshNearLimitMs : Infinity)) return this.read(account);
    if (names.some((name) => isCounted(name) && hasAddedMuch(known, name))) return this.read(account);
    if (ageMs > freshMs) this.read(account).catch(this.parts.onError);
    return known;
  }

  private read(account: AccountId): Promise<KnownUsage> {
    const reading = this.reading.get(account) ?? this.readAnew(account);
    this.reading.set(account, reading);
    return reading.finally(() => this.reading.delete(account));
  }

  private async readAnew(account: AccountId): Promise<KnownUsage> {
    const [usage, tier] = await Promise.all([this.parts.readUsage(account), this.parts.readTier(account)]);
    const { limits: usual } = this.parts;
    const active_runs = Math.min(usual.active_runs, tier?.max_active_runs ?? Infinity);
    const limits: QuotaLimits = { ...usual, ...tier?.quotas, active_runs };
    const run_minutes = limits.run_minutes === Infinity ? 0 : await this.parts.readRunMinutes(account);
    const known = { limits, used: { ...usage, run_minutes }, added: {}, readAt: this.nowMs() };
    this.known.set(account, known);
    return known;
  }
}

const sumUse = ({ used, added }: KnownUsage, name: StoredQuota): number => used[name] + (added[name] ?? 0);

/** Where all of a quota is counted anyway, nothing has to be read for it. */
function hasAddedMuch({ limits, added }: KnownUsage, name: CountedQuota): boolean {
  const below = countedBelow[name](limits[name]);
  return limits[name] > below && (added[name] ?? 0) > below;
}

/** Of which little is left; undefined where there is enough of each. */
function toBounds(usage: KnownUsage, names: readonly StoredQuota[]): QuotaBounds | undefined {
  const { limits } = usage;
  const isScarce = (name: CountedQuota) => limits[name] - sumUse(usage, name) <= countedBelow[name](limits[name]);
  const scarce = names.filter(isCounted).filter(isScarce);
  return scarce.length > 0 ? Object.fromEntries(scarce.map((name) => [name, limits[name]])) : undefined;
}
