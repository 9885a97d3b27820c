import type { NewId } from '@rondo/contract';

const copied = /^(msg|call|apr|mdl|cmp|evt)_([0-9A-Za-z]{1,48})$/;
const anyId = /\b(?:run|thr|msg|call|apr|mdl|cmp|evt)_[0-9A-Za-z]{1,48}\b/g;
const nameOfIds = /(?:^|_)(?:id|ids)$/;

/**
 * New ids for a copy of rows: of its run and thread as given, and of every message, call, event and so on that the rows name in
 * a field of ids. An approval keeps the id that follows from that of its call, because ids with the same end get the same one.
 */
export class ForkIds {
  private readonly ids = new Map<string, string>();
  private readonly ends = new Map<string, string>();

  constructor(
    given: ReadonlyMap<string, string>,
    private readonly newId: NewId,
  ) {
    for (const [from, to] of given) this.ids.set(from, to);
  }

  /** Gives new ones for those in this JSON. */
  collect(json: string): void {
    this.collectIn(JSON.parse(json), '');
  }

  /** The same text with the new ids, byte for byte otherwise. */
  rewrite(text: string): string {
    return text.replace(anyId, (id) => this.ids.get(id) ?? id);
  }

  private collectIn(value: unknown, name: string): void {
    if (typeof value === 'string') this.add(value, name);
    else if (Array.isArray(value)) for (const item of value) this.collectIn(item, name);
    else if (typeof value === 'object' && value !== null)
      for (const [key, field] of Object.entries(value)) this.collectIn(field, key);
  }

  private add(id: string, name: string): void {
    if (!nameOfIds.test(name) || this.ids.has(id)) return;
    const [, kind, end] = copied.exec(id) ?? [];
    if (kind === undefined || end === undefined) return;
    const known = this.ends.get(end) ?? this.newId();
    this.ends.set(end, known);
    this.ids.set(id, `${kind}_${known}`);
  }
}
