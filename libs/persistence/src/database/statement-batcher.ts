import { setImmediate as nextTurn } from 'node:timers/promises';
import { tookTooLong, wasRefused } from './sql-error';

/** The most items of one statement; the rest go into the next. */
const maxBatchSize = 64;
/** A larger item is sent alone. */
const maxBatchBytes = 16 * 1024 * 1024;
/** After two timeouts of single items the database counts as slow, and the rest are not tried. */
const maxSlow = 2;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Grouping<Item> {
  /** No statement holds two items of one subject, so that they stay in order. By default items have no subject. */
  readonly toSubject?: (item: Item) => unknown;
  /** The approximate bytes that the item adds to the statement; 0 by default. */
  readonly weigh?: (item: Item) => number;
  /** Sends the first item at once instead of at the end of its turn of the event loop. */
  readonly startsAtOnce?: boolean;
}

/**
 * Sends items of many callers in one statement. Items of one turn of the event loop, and items that arrive while a
 * statement is running, go together into the next one: a busy process pays one commit for many runs, and an idle one does
 * not wait. An item never joins a statement that has started.
 */
export class StatementBatcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private isSending = false;

  /** `send` returns one result per item, in their order. */
  constructor(
    private readonly send: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly grouping: Grouping<Item> = {},
  ) {}

  of(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.isSending) return;
      this.isSending = true;
      if (this.grouping.startsAtOnce) void this.drain();
      else setImmediate(() => void this.drain());
    });
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      await this.sendGroup(this.nextGroup());
      await nextTurn(); // lets callers react to their results, so that their next items go together
    }
    this.isSending = false;
  }

  /** Takes items in order of arrival, skipping those that do not fit. */
  private nextGroup(): Waiting<Item, Result>[] {
    const { toSubject, weigh } = this.grouping;
    const subjects = new Set<unknown>();
    const group: Waiting<Item, Result>[] = [];
    const later: Waiting<Item, Result>[] = [];
    let bytes = 0;
    for (const waiting of this.waiting) {
      const subject = toSubject?.(waiting.item);
      const weight = weigh?.(waiting.item) ?? 0;
      const fits = group.length === 0 || (group.length < maxBatchSize && bytes + weight <= maxBatchBytes);
      if (fits && !subjects.has(subject)) {
        group.push(waiting);
        bytes += weight;
      } else later.push(waiting);
      if (subject !== undefined) subjects.add(subject);
    }
    this.waiting = later;
    return group;
  }

  /** When Postgres refuses a group, sends each item alone, so that one bad item does not fail the others. */
  private async sendGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.send(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result); // one for each
    } catch (error) {
      if (group.length > 1 && wasRefused(error)) await this.sendEach(group);
      else for (const { reject } of group) reject(error);
    }
  }

  /** Stops after two timeouts: two single items may wait for locks, more would delay all items behind them. */
  private async sendEach(group: readonly Waiting<Item, Result>[]): Promise<void> {
    let slow = 0;
    for (const [index, { item, resolve, reject }] of group.entries()) {
      try {
        const [result] = await this.send([item]);
        resolve(result as Result); // one for each
      } catch (error) {
        reject(error);
        if (tookTooLong(error)) slow += 1;
        if (slow < maxSlow) continue;
        for (const later of group.slice(index + 1)) later.reject(error);
        return;
      }
    }
  }
}
