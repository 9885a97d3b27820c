import { setImmediate as turn } from 'node:timers/promises';
import { toMessage } from '@rondo/platform';
import { type MomentRecord, MomentRefused, type MomentStore } from './moment-store';
import { toStored } from './tree-entry';

export interface DropOrder {
  /** What the states that stay may take together. */
  readonly toBytes: number;
  /** For those who ask for one that was dropped. */
  readonly why: string;
  /** The tree of one that stays, with a record or without. */
  readonly needed?: string | undefined;
}

export interface LeftStates {
  /** The hashes of what is stored, with their bytes. */
  readonly contents: ReadonlyMap<string, number>;
  /** When the oldest of them was recorded. Undefined: none is left. */
  readonly since: string | undefined;
}

/** Others are forgotten, so that it is not said why they were dropped. */
const mostRefusals = 5_000;

/**
 * Keeps the newest states of a workspace that take no more together, and deletes what belongs to none of them: that of older ones, and
 * of one that was being kept when its executor was killed. Each record that loses its state says why. A kill in between leaves every
 * state whole, and what it did not delete is deleted when the store is used next.
 */
export async function dropOldest(store: MomentStore, { toBytes, why, needed }: DropOrder): Promise<LeftStates> {
  const left = new Contents(store);
  if (needed !== undefined) await left.add(needed, Infinity);
  const newestFirst: MomentRecord[] = [];
  let refusals = 0;
  let isFull = false;
  for (const record of newestOfEach(store.readRecords())) {
    const refused = record.tree === undefined ? undefined : await findRefusal(record.tree);
    const { tree, ...rest } = record;
    if (tree !== undefined && refused === undefined) newestFirst.push(record);
    else if ((refusals += 1) <= mostRefusals) newestFirst.push({ ...rest, ...(refused !== undefined && { refused }) });
  }
  await store.replace(newestFirst.reverse(), left.bytes);
  return { contents: left.bytes, since: newestFirst.find(({ tree }) => tree !== undefined)?.at };

  async function findRefusal(tree: string): Promise<string | undefined> {
    if (isFull && tree !== needed) return why;
    try {
      isFull = !(await left.add(tree, toBytes));
      return isFull && tree !== needed ? why : undefined;
    } catch (error) {
      if (error instanceof MomentRefused) return toMessage(error);
      throw error;
    }
  }
}

function newestOfEach(records: readonly MomentRecord[]): MomentRecord[] {
  const keys = new Set<string>();
  return records.toReversed().filter(({ key }) => !keys.has(key) && keys.add(key));
}

/** What some states consist of. */
class Contents {
  readonly bytes = new Map<string, number>();
  private total = 0;

  constructor(private readonly store: MomentStore) {}

  /** False where they would take more than `most` together; then nothing is added. Rejects with MomentRefused where a part is not there. */
  async add(tree: string, most: number): Promise<boolean> {
    const more = new Map<string, number>();
    await this.collect(tree, more);
    const total = [...more.values()].reduce((sum, bytes) => sum + bytes, this.total);
    if (total > most) return false;
    for (const [content, bytes] of more) this.bytes.set(content, bytes);
    this.total = total;
    return true;
  }

  private async collect(tree: string, more: Map<string, number>): Promise<void> {
    if (!this.measure(tree, more)) return;
    await turn();
    for (const entry of this.store.readTree(tree)) {
      if (entry.kind === 'directory') await this.collect(entry.tree, more);
      if (entry.kind === 'file' && entry.hard === undefined) this.measure(toStored(entry), more);
    }
  }

  /** False where it is known. */
  private measure(content: string, more: Map<string, number>): boolean {
    if (this.bytes.has(content) || more.has(content)) return false;
    more.set(content, this.store.measure(content));
    return true;
  }
}
