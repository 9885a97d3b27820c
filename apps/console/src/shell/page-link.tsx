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

/** Lines on a square of 20, for each page. */
const lines = {
  '/runs': 'M3 5h9M3 10h14M3 15h6',
  '/inbox': 'M3 11l2-7h10l2 7v5H3zM3 11h4l1.5 2h3L13 11h4',
  '/threads': 'M3 4h14v9H9l-4 3v-3H3z',
  '/agents': 'M4 7h12v9H4zM10 4v3M8 11h.01M12 11h.01',
  '/schedules': 'M10 3a7 7 0 1 0 0 14 7 7 0 1 0 0-14M10 6v4l3 2',
  '/sandboxes': 'M3 6.5L10 3l7 3.5v7L10 17l-7-3.5zM3 6.5l7 3.5 7-3.5M10 10v7',
  '/usage': 'M4 16v-5M10 16V4M16 16V8',
  '/keys': 'M12.5 3a4.5 4.5 0 1 0 0 9 4.5 4.5 0 1 0 0-9M9.5 10.5L3 17M6 14l2 2M13 7.5h.01',
  '/health': 'M2 10h4l2.5-6 3.5 12 2.5-6H18',
  more: 'M4 10h.01M10 10h.01M16 10h.01',
};

export type TabIconName = keyof typeof lines;

export function TabIcon({ name }: { readonly name: TabIconName }) {
  return (
    <svg
      className={name === 'more' ? 'tab-icon dots' : 'tab-icon'}
      viewBox="0 0 20 20"
      width="20"
      height="20"
      aria-hidden="true"
    >
      <path d={lines[name]} />
    </svg>
  );
}
