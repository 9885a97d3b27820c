import { type ReactNode, useState } from 'react';
import { useProblem } from './problem-text.ts';

interface ActionProps {
  readonly work: () => Promise<unknown>;
  readonly children: ReactNode;
  readonly className?: string;
  readonly label?: string;
}

/** A button for something that takes time and may fail. It says so beside itself. */
export function Action({ work, ...button }: ActionProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useProblem();
  const start = () => {
    setBusy(true);
    setProblem(null);
    work()
      .catch(setProblem)
      .finally(() => setBusy(false));
  };
  return <WorkButton {...button} {...{ isBusy, problem, start }} />;
}

interface WorkButtonProps extends Omit<ActionProps, 'work'> {
  readonly isBusy: boolean;
  readonly problem: string | null;
  readonly start: () => void;
  readonly disabled?: boolean;
}

/** A button that does nothing while its work goes on, and keeps the focus meanwhile; and what went wrong. */
export function WorkButton({ isBusy, problem, start, disabled, label, className, children }: WorkButtonProps) {
  return (
    <>
      <button {...{ className, disabled }} aria-disabled={isBusy} onClick={() => isBusy || start()} aria-label={label}>
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
