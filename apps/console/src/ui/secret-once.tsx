import { useRef, useState } from 'react';

interface SecretOnceProps {
  /** What it is. */
  readonly name: string;
  readonly secret: string;
  readonly close: () => void;
}

/** A secret that the gateway shows once. It is in no store of the page, and gone when this is closed. */
export function SecretOnce({ name, secret, close }: SecretOnceProps) {
  const text = useRef<HTMLElement>(null);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (text.current) getSelection()?.selectAllChildren(text.current);
    if (isSecureContext) await navigator.clipboard.writeText(secret); // elsewhere it is selected, for a person to copy
    setCopied(true);
  };
  return (
    <section className="card secret" aria-label={name}>
      <h2>{name}</h2>
      <code ref={text} tabIndex={0}>
        {secret}
      </code>
      <p className="hint" role="status">
        {isCopied ? 'Copied, or selected for you to copy.' : 'Copy it now: it is shown this once.'}
      </p>
      <div className="actions">
        <button className="primary" onClick={() => void copy().catch(() => setCopied(true))}>
          Copy
        </button>
        <button onClick={close}>I have kept it</button>
      </div>
    </section>
  );
}
