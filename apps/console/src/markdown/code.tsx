import { Suspense, lazy } from 'react';
import { CopyButton } from '../ui/copy-button.tsx';

interface CodeProps {
  readonly text: string;
  readonly language?: string | undefined;
  /** Whether more of it arrives: then it has no colours yet. */
  readonly isOpen?: boolean;
}

/** The colours are loaded with the first code that has a language. Without them, the code is shown as it is. */
const Highlighted = lazy(() =>
  import('./highlighted.tsx').catch(() => ({
    default: ({ text }: { readonly text: string; readonly language: string }) => text,
  })),
);

export function Code({ text, language = '', isOpen = false }: CodeProps) {
  const [name = ''] = language
    .trim()
    .toLowerCase()
    .split(/[\s{,]/);
  return (
    <div className="code-block">
      <pre tabIndex={0} aria-label={language === '' ? 'Code' : `Code, ${language}`}>
        <code>
          {name === '' || isOpen ? (
            text
          ) : (
            <Suspense fallback={text}>
              <Highlighted text={text} language={name} />
            </Suspense>
          )}
        </code>
      </pre>
      {!isOpen && <CopyButton text={text} what="code" />}
    </div>
  );
}
