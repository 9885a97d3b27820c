import { Link } from '@tanstack/react-router';
import { useSession } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { Mark } from './mark.tsx';
import { PageLink } from './page-link.tsx';
import type { PageEntry } from './pages.ts';
import { ThemeSwitch } from './theme-switch.tsx';
import { WhoAmI } from './who-am-i.tsx';

interface SideBarProps {
  readonly pages: readonly PageEntry[];
  readonly waiting: number;
}

/** The pages on a wide screen. */
export function SideBar({ pages, waiting }: SideBarProps) {
  const { signOut } = useSession();
  return (
    <header className="side">
      <Link to="/runs" className="brand">
        <Mark />
        Rondo
      </Link>
      <nav aria-label="Pages">
        {pages.map((page) => (
          <PageLink key={page.to} page={page} waiting={waiting} />
        ))}
      </nav>
      <div className="side-end">
        <WhoAmI />
        <ThemeSwitch />
        <Action className="quiet" work={signOut}>
          Sign out
        </Action>
      </div>
    </header>
  );
}
