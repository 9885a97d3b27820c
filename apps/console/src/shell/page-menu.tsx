import type { RefObject } from 'react';
import { useSession } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { PageLink } from './page-link.tsx';
import type { PageEntry } from './pages.ts';
import { ThemeSwitch } from './theme-switch.tsx';
import { WhoAmI } from './who-am-i.tsx';

interface PageMenuProps {
  readonly menu: RefObject<HTMLDivElement | null>;
  readonly pages: readonly PageEntry[];
}

/** What “More” opens. The browser closes it for Escape, and for a touch beside it. */
export function PageMenu({ menu, pages }: PageMenuProps) {
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
