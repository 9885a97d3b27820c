import { type Reading, type TextSource, notSpace } from '../text-source';
import { decodeEntities } from './entities';

const nameEnd = /[ \t\r\n=<>/"']/g;
const quotes = { '"': /"/g, "'": /'/g } as const;

/** An opening tag after its name: quoted attributes in any order, then `>` or `/>`. */
export class OpenTag {
  /** As written, `>` included. */
  text = '';
  readonly attributes = new Map<string, string>();
  isSelfClosing = false;
  /** `broken`: the text is no tag. `cut`: the stream ended within it. */
  state: 'closed' | 'broken' | 'cut' = 'cut';

  static *read(source: TextSource): Reading<OpenTag> {
    const tag = new OpenTag(source);
    if (yield* tag.readAttributes()) tag.state = 'closed';
    else if (!source.isOver) tag.state = 'broken';
    return tag;
  }

  private constructor(private readonly source: TextSource) {}

  private *readAttributes(): Reading<boolean> {
    for (;;) {
      const space = yield* this.readUntil(notSpace);
      if (yield* this.skip('>')) return true;
      if (yield* this.skip('/')) {
        this.isSelfClosing = true;
        return yield* this.skip('>');
      }
      if (space === '' || !(yield* this.readAttribute())) return false;
    }
  }

  /** An attribute is recorded at its `=`, even if its value is broken. */
  private *readAttribute(): Reading<boolean> {
    const name = yield* this.readUntil(nameEnd);
    yield* this.readUntil(notSpace);
    if (name === '' || this.attributes.has(name) || !(yield* this.skip('='))) return false;

    this.attributes.set(name, '');
    yield* this.readUntil(notSpace);
    const quote = (yield* this.skip('"')) ? '"' : "'";
    if (quote === "'" && !(yield* this.skip("'"))) return false;
    const value = yield* this.readUntil(quotes[quote]);
    this.attributes.set(name, decodeEntities(value));
    return yield* this.skip(quote);
  }

  private *readUntil(stop: RegExp): Reading<string> {
    const text = yield* this.source.readUntil(stop);
    this.text += text;
    return text;
  }

  private *skip(character: string): Reading<boolean> {
    const isThere = yield* this.source.skip(character);
    if (isThere) this.text += character;
    return isThere;
  }
}
