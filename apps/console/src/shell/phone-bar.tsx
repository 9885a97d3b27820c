import { useLocation } from '@tanstack/react-router';
import { useRef, type RefObject } from 'react';
import { PageLink, TabIcon } from './page-link.tsx';
import type { PageEntry } from '../pages.ts';
import { useSession } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { WhoAmI } from './who-am-i.tsx';

/** As many as have space with their names on the narrowest phones. */
const inBar = 4;

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
        {pages.slice(0, inBar).map((page) => (
          <PageLink key={page.to} page={page} waiting={waiting}>
            <TabIcon name={page.to} />
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

interface PageMenuProps {
  readonly menu: RefObject<HTMLDivElement | null>;
  readonly pages: readonly PageEntry[];
}

/** What “More” opens. The browser closes it for Escape, and for a touch beside it. */
function PageMenu({ menu, pages }: PageMenuProps) {
  const { signOut } = useSession();
  return (
    <div id="more-pages" className="page-menu" popover="auto" ref={menu}>
      <nav aria-label="More pages">
        {pages.map((page) => (
          <PageLink key={page.to} page={page} waiting={0} onClick={() => menu.current?.hidePopover()} />
        ))}
      </nav>
      <WhoAmI />
      <div className="page-menu-end">
        <ThemeSwitch />
        <Action className="quiet" work={signOut}>
          Sign out
        </Action>
      </div>
    </div>
  );
}
