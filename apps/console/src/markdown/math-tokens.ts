import type { TokenizerAndRendererExtension, Tokens } from 'marked';

/** A formula as TeX. */
export interface MathToken extends Tokens.Generic {
  readonly type: 'math';
  readonly text: string;
  readonly isBlock: boolean;
}

/** `$$…$$` and `\[…\]` are formulas of their own; `\(…\)` and `$…$` are in a line. */
const forms: readonly { readonly form: RegExp; readonly isBlock: boolean }[] = [
  { form: /^\$\$([^$]+?)\$\$/, isBlock: true },
  { form: /^\\\[([^]+?)\\\]/, isBlock: true },
  { form: /^\\\(([^]+?)\\\)/, isBlock: false },
  // Dollars are also amounts of money and names of variables: no space inside, and no letter or digit after.
  { form: /^\$(?![\s$])([^$\n]*[^$\s\\])\$(?![\w$])/, isBlock: false },
];

/** Lets marked find formulas. */
export const mathTokens: TokenizerAndRendererExtension = {
  name: 'math',
  level: 'inline',
  start: (source) => {
    const at = source.search(/(?<![\w$])\$|\\[[(]/);
    return at < 0 ? undefined : at;
  },
  tokenizer(source): MathToken | undefined {
    for (const { form, isBlock } of forms) {
      const [raw, text] = form.exec(source) ?? [];
      if (raw !== undefined && text !== undefined) return { type: 'math', raw, text: text.trim(), isBlock };
    }
    return undefined;
  },
};
