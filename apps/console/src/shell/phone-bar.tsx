import { useLocation } from '@tanstack/react-router';
import { useRef } from 'react';
import { PageLink } from './page-link.tsx';
import { PageMenu } from './page-menu.tsx';
import type { PageEntry } from './pages.ts';
import { TabIcon, type TabIconName } from './tab-icon.tsx';

/** As many as have space with their names on the narrowest phones. */
const inBar = 4;
const icons: readonly TabIconName[] = ['/runs', '/inbox', '/threads', '/agents'];

interface PhoneBarProps {
  readonly pages: readonly PageEntry[];
  readonly waiting: number;
}

/** The pages on a phone: the first in a bar within reach of the thumb, the others one touch away. */
export function PhoneBar({ pages, waiting }: PhoneBarProps) {
  const menu = useRef<HTMLDivElement>(null);
  const { pathname } = useLocation();
  const others = pages.slice(inBar);
  const isElsewhere = others.some(({ to }) => pathname.startsWith(to));
  return (
    <header className="phone-bar">
      <nav aria-label="Pages">
        {pages.slice(0, inBar).map((page, index) => (
          <PageLink key={page.to} page={page} waiting={waiting}>
            <TabIcon name={icons[index] ?? 'more'} />
          </PageLink>
        ))}
        <button popoverTarget="more-pages" className={isElsewhere ? 'current' : undefined}>
          <TabIcon name="more" />
          More
        </button>
      </nav>
      <PageMenu menu={menu} pages={others} />
    </header>
  );
}
