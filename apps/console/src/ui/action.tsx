import { type ReactNode, useState } from 'react';
import { useProblem } from './problem-text.ts';

interface ActionProps {
  readonly work: () => Promise<unknown>;
  readonly children: ReactNode;
  readonly className?: string;
  readonly label?: string;
}

/** A button for something that takes time and may fail. It says so beside itself. */
export function Action({ work, children, className, label }: ActionProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useProblem();
  const start = () => {
    setBusy(true);
    setProblem(null);
    work()
      .catch(setProblem)
      .finally(() => setBusy(false));
  };
  return (
    <>
      <button className={className} disabled={isBusy} onClick={start} aria-label={label}>
        {children}
      </button>
      {problem !== null && (
        <span className="problem" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
