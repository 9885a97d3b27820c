interface Node<Word extends string> {
  /** By character code. */
  readonly next: (Node<Word> | undefined)[];
  word?: Word;
}

/** Finds the first of several words in one pass over a text. */
export class WordTrie<Word extends string> {
  private readonly root: Node<Word> = { next: [] };
  /** The first character of all words, or a pattern of their first characters. */
  private readonly beginning: string | RegExp;

  constructor(words: readonly Word[]) {
    for (const word of words) this.add(word);
    const [first = '', ...others] = new Set(words.map((word) => word.charAt(0)));
    this.beginning =
      others.length === 0 ? first : new RegExp(`[${[first, ...others].map(escapeCharacter).join('')}]`, 'g');
  }

  /** The next index from `at` where a word could begin; -1 if there is none. */
  find(text: string, at: number): number {
    if (typeof this.beginning === 'string') return text.indexOf(this.beginning, at);
    this.beginning.lastIndex = at;
    return this.beginning.test(text) ? this.beginning.lastIndex - 1 : -1;
  }

  /** The longest word at `at`, if any; null if that depends on text that has not arrived. `isAll`: no more text will arrive. */
  match(text: string, at: number, isAll: boolean): Word | undefined | null {
    let node = this.root;
    let word: Word | undefined;
    for (let index = at; index < text.length; index += 1) {
      const next = node.next[text.charCodeAt(index)];
      if (!next) return word;
      node = next;
      word = node.word ?? word;
    }
    return isAll || node.next.length === 0 ? word : null;
  }

  private add(word: Word): void {
    let node = this.root;
    for (let index = 0; index < word.length; index += 1) {
      const next = (node.next[word.charCodeAt(index)] ??= { next: [] });
      node = next;
    }
    node.word = word;
  }
}

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
