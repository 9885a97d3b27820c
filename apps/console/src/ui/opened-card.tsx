import { type ReactNode, useState } from 'react';

interface OpenedCardProps {
  /** What the button says, and the heading of the card. */
  readonly name: string;
  /** Gets what closes the card again. */
  readonly children: (close: () => void) => ReactNode;
}

/** A button that opens a card, in which something new is described. */
export function OpenedCard({ name, children }: OpenedCardProps) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen)
    return (
      <p className="before-table">
        <button onClick={() => setOpen(true)}>{name}</button>
      </p>
    );
  return (
    <section className="card">
      <h2>{name}</h2>
      {children(() => setOpen(false))}
    </section>
  );
}
