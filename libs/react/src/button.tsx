import { type ReactNode, useState } from 'react';

interface ButtonProps {
  readonly work: () => Promise<unknown>;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Does something once, and says why it failed. */
export function Button({ work, className = '', children }: ButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const begin = () => {
    setBusy(true);
    setProblem(null);
    work()
      .catch((error: unknown) => setProblem(describeProblem(error)))
      .finally(() => setBusy(false));
  };
  return (
    <>
      <button type="button" className={className} disabled={isBusy} onClick={begin}>
        {children}
      </button>
      {problem !== null && (
        <span className="rondo-problem" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}

export const describeProblem = (error: unknown): string => (error instanceof Error ? error.message : String(error));
