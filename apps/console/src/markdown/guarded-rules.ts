import type { MarkedExtension } from 'marked';

/** What the source has to match where a block of this kind begins. */
const guards = {
  html: /^ {0,3}</,
  blockquote: /^ {0,3}>/,
  def: /^ {0,3}\[/,
  table: /^[^\n]*\n {0,3}[|:-][|: -]*(?:\n|$)/,
  lheading: /\n {0,3}(?:=+|-+)[ \t]*(?:\n|$)/,
};

const guard = (form: RegExp) => (source: string) => (form.test(source) ? (false as const) : undefined);

/**
 * The large expressions of marked are compiled when they are first tried, which takes longer than everything else that a page
 * with a short text does. Most texts have none of these blocks, so each is tried only where it can begin.
 */
export const guardedRules: MarkedExtension = {
  tokenizer: {
    html: guard(guards.html),
    blockquote: guard(guards.blockquote),
    def: guard(guards.def),
    table: guard(guards.table),
    lheading: guard(guards.lheading),
  },
};
