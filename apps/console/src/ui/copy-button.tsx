import { useState } from 'react';

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for a name that is not only "Copy". */
  readonly what: string;
}

/** Copies a text. Browsers let pages write to the clipboard only over https and on localhost; elsewhere there is no button. */
export function CopyButton({ text, what }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'Copied' | 'Refused'>();
  if (!('navigator' in globalThis) || !('clipboard' in navigator)) return null;
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setOutcome('Copied'),
      () => setOutcome('Refused'),
    );
  return (
    <button
      className="copy"
      aria-label={`Copy ${what}`}
      onClick={() => void copy()}
      onBlur={() => setOutcome(undefined)}
    >
      <span role="status">{outcome ?? 'Copy'}</span>
    </button>
  );
}
