import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

interface ItemHeadProps {
  /** The list that this page belongs to. */
  readonly list: { readonly to: string; readonly name: string };
  /** What follows the list's name: mostly the id. */
  readonly crumb: ReactNode;
  readonly title: string;
  /** Of a page whose content has the whole width and scrolls by itself. */
  readonly isWide?: boolean;
  /** What can be done with it, in the line of the title. */
  readonly children?: ReactNode;
  /** Below that line. */
  readonly facts?: ReactNode;
}

/** The head of the page of one thing: where it is, what it is called, and what can be done with it. */
export function ItemHead({ list, crumb, title, isWide = false, children, facts }: ItemHeadProps) {
  return (
    <header className={isWide ? 'run-head' : 'item-head'}>
      <p className="crumb">
        <Link to={list.to}>{list.name}</Link> / {crumb}
      </p>
      <div className="item-head-line">
        <h1 dir="auto">{title}</h1>
        {children}
      </div>
      {facts}
    </header>
  );
}
