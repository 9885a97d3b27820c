import { useState } from 'react';

/** What is stored, and when it was stored last. Null: never. */
interface Stored<Definition> {
  readonly definition: Definition;
  readonly at: string | null;
}

interface Draft<Definition> {
  readonly draft: Definition;
  readonly edit: (draft: Definition) => void;
  /** What the draft began from. */
  readonly base: Stored<Definition>;
  readonly isChanged: boolean;
  /** Whether something else was stored since the draft began. */
  readonly isBehind: boolean;
  /** Begins from what was stored last, with the draft or without it. */
  readonly follow: (choice: 'keep' | 'discard') => void;
  /** Begins from what this page has stored. */
  readonly begin: (stored: Stored<Definition>) => void;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const isLater = (at: string | null, before: string | null): boolean => at !== null && at > (before ?? '');

/** What is written here stays when others store something else meanwhile; what is untouched shows theirs. */
export function useDraft<Definition>(newest: Stored<Definition>): Draft<Definition> {
  const [base, setBase] = useState(newest);
  const [draft, setDraft] = useState(newest.definition);
  const begin = (stored: Stored<Definition>) => {
    setBase(stored);
    setDraft(stored.definition);
  };
  const isChanged = !isSame(draft, base.definition);
  const isOther = isLater(newest.at, base.at) && !isSame(newest.definition, base.definition);
  if (isOther && !isChanged) begin(newest);
  return {
    ...{ draft, edit: setDraft, base, isChanged, begin },
    isBehind: isOther && isChanged,
    follow: (choice) => (choice === 'discard' ? begin(newest) : setBase(newest)),
  };
}
