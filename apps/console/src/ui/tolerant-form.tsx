import { CatchBoundary } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface TolerantFormProps {
  /** What the form is of. A change of it shows the form again. */
  readonly whole: object;
  readonly children: ReactNode;
}

/** A form of something that is also written as text, where every value may be of another kind than a field can show. */
export const TolerantForm = ({ whole, children }: TolerantFormProps) => (
  <CatchBoundary getResetKey={() => whole} errorComponent={NotShown}>
    {children}
  </CatchBoundary>
);

const NotShown = () => (
  <p className="problem" role="alert">
    The form cannot show what the text says, because a value in it is of another kind than its field. Correct it in the
    text.
  </p>
);
