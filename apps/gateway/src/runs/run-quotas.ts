import type { AccountId } from '@rondo/contract';
import type { CallAnswer, NewRun, QuotaBounds, RunPlace, Sandboxes } from '@rondo/persistence';
import { type AccountQuotas, measureContent } from '../billing/account-quotas';

interface RunQuotaParts {
  readonly quotas: Pick<AccountQuotas, 'within' | 'isFull'>;
  readonly sandboxes: Pick<Sandboxes, 'hasWorkspace'>;
}

/** Begins a run within what its account may have of what stays. Rejects with QuotaExceeded. */
export async function withinQuotas<Begun>(
  { quotas, sandboxes }: RunQuotaParts,
  { accountId, threadId, projectId, input = [], settings }: RunPlace & Partial<Pick<NewRun, 'input' | 'settings'>>,
  begin: (bounds?: QuotaBounds) => Promise<Begun>,
): Promise<Begun> {
  const place = { accountId, threadId, projectId };
  const usesTools = settings !== undefined && settings.tools.length > 0;
  const mayNeedMore = usesTools && (await quotas.isFull(accountId, 'workspaces'));
  const amounts = {
    ...measureContent(input),
    run_minutes: 0,
    ...(threadId === undefined && { threads: 1 }),
    ...(mayNeedMore && !(await sandboxes.hasWorkspace(place)) && { workspaces: 1 }),
  };
  return quotas.within(accountId, amounts, begin);
}

interface ImageAnswers {
  readonly accountId: AccountId;
  readonly answers: readonly Pick<CallAnswer, 'result'>[];
}

/** The same for the results of calls, of which only images count before they are stored. */
export async function withinImageQuota<Written>(
  quotas: Pick<AccountQuotas, 'within'>,
  { accountId, answers }: ImageAnswers,
  write: (bounds?: QuotaBounds) => Promise<Written>,
): Promise<Written> {
  const images = answers.flatMap(({ result }) => result.image ?? []);
  if (images.length === 0) return write();
  const bytes = images.reduce((sum, { data }) => sum + (data.length * 3) / 4, 0);
  return quotas.within(accountId, { image_bytes: bytes }, write);
}

export const joinBounds = (
  stored: QuotaBounds | undefined,
  active: QuotaBounds | undefined,
): QuotaBounds | undefined => (stored && active ? { ...stored, ...active } : (stored ?? active));
