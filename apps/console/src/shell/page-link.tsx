import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PageEntry } from '../pages.ts';

interface PageLinkProps {
  readonly page: PageEntry;
  /** How much waits for a person. The inbox says it. */
  readonly waiting: number;
  readonly onClick?: () => void;
  /** What is beside the name. */
  readonly children?: ReactNode;
}

export function PageLink({ page: { to, name }, waiting, onClick, children }: PageLinkProps) {
  return (
    <Link to={to} onClick={onClick} activeProps={{ 'aria-current': 'page' }}>
      {children}
      {name}
      {to === '/inbox' && waiting > 0 && (
        <b className="badge" aria-label={`waiting for you: ${waiting}`}>
          {waiting}
        </b>
      )}
    </Link>
  );
}
