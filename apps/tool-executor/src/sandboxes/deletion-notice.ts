import type { SandboxProvider } from './provider/sandbox-provider';
import type { Deletion, DeletionReason } from './provider/sandbox-records';

/**
 * What a call has to be told before it works in a workspace whose files were deleted: they are gone for a reason that the
 * model cannot know, and what it does might rely on them. Undefined where nothing was deleted, or a call was told already.
 */
export async function deletionNotice(
  sandboxes: Pick<SandboxProvider, 'records' | 'remove'>,
  threadId: string,
  callId: string,
): Promise<string | undefined> {
  const deletion = await sandboxes.records.toTell(threadId, callId);
  if (!deletion) return undefined;
  if (deletion.reason === 'moved') return describeMove(deletion);
  if (!deletion.isDone) await sandboxes.remove(threadId, deletion.reason); // the executor has died meanwhile
  return `Not executed: ${describeDeletion({ ...deletion, reason: deletion.reason })} Only what was put there since is in it. Repeat the call if it makes sense without them.`;
}

function describeMove({ copiedAt }: Deletion): string {
  const files =
    copiedAt === undefined
      ? 'No copy of its files had been saved: if it had any, all of them are gone, and so is everything that was running.'
      : `Its files were restored here as they were at ${toSecond(copiedAt)}. What was changed later is gone, and so is everything that was running.`;
  return `Not executed: the executor that had this workspace is lost, or its disk. ${files} Repeat the call if it still makes sense.`;
}

/** In UTC, as models read times elsewhere. */
const toSecond = (at: string): string => `${at.slice(0, 'yyyy-mm-ddThh:mm:ss'.length).replace('T', ' ')} UTC`;

type Deleted = Deletion & { readonly reason: DeletionReason };

function describeDeletion({ at, reason, unusedMs }: Deleted): string {
  const day = at.slice(0, 'yyyy-mm-dd'.length);
  switch (reason) {
    case 'unused':
      return `the files of this workspace were deleted on ${day}, because they had not been used for ${toLength(unusedMs)}.`;
    case 'request':
      return `the files of this workspace were deleted on ${day} at the request of its owner.`;
    case 'elsewhere':
      return `the files of this workspace are gone. They were deleted outside of this program; it was noticed on ${day}.`;
  }
}

const hourMs = 3_600_000;

function toLength(ms: number): string {
  const hours = Math.floor(ms / hourMs);
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`;
}
