import { useState } from 'react';

/** What is stored, and when it was stored last. Null: never. */
interface Stored<Definition> {
  readonly definition: Definition;
  readonly at: string | null;
}

interface Draft<Definition> {
  readonly draft: Definition;
  readonly edit: (draft: Definition) => void;
  readonly isChanged: boolean;
  /** Whether something else was stored since the draft began. */
  readonly isBehind: boolean;
  /** Begins from what was stored last, with the draft or without it. */
  readonly follow: (choice: 'keep' | 'discard') => void;
  /** Begins from what this page has stored, which is what was `sent`. What was written since then stays. */
  readonly begin: (stored: Stored<Definition>, sent: Definition) => void;
  /** Another one each time that something else takes the place of what is written. */
  readonly place: string | null;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const isLater = (at: string | null, before: string | null): boolean => at !== null && at > (before ?? '');

/** What is written here stays when others store something else meanwhile; what is untouched shows theirs. */
export function useDraft<Definition>(newest: Stored<Definition>): Draft<Definition> {
  const [base, setBase] = useState(newest);
  const [{ draft, place }, setWritten] = useState({ draft: newest.definition, place: newest.at });
  const show = (stored: Stored<Definition>, sent = draft) => {
    setBase(stored);
    setWritten((now) => (now.draft === sent ? { draft: stored.definition, place: stored.at } : now));
  };
  const isChanged = !isSame(draft, base.definition);
  const isOther = isLater(newest.at, base.at) && !isSame(newest.definition, base.definition);
  if (isOther && !isChanged) show(newest);
  return {
    ...{ draft, place, isChanged, begin: show },
    edit: (next) => setWritten((now) => ({ ...now, draft: next })),
    isBehind: isOther && isChanged,
    follow: (choice) => (choice === 'discard' ? show(newest) : setBase(newest)),
  };
}
