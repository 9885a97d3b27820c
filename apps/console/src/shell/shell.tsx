import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useMay } from '../session/use-may.ts';
import { useSession } from '../session/use-session.ts';
import { Action } from '../ui/action.tsx';
import { take } from '../ui/take.ts';
import { Mark } from './mark.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

const pages = [
  { to: '/runs', name: 'Runs', scope: 'read' },
  { to: '/inbox', name: 'Inbox', scope: 'read' },
  { to: '/threads', name: 'Threads', scope: 'read' },
  { to: '/agents', name: 'Agents', scope: 'read' },
  { to: '/schedules', name: 'Schedules', scope: 'read' },
  { to: '/sandboxes', name: 'Sandboxes', scope: 'read' },
  { to: '/usage', name: 'Usage', scope: 'read' },
  { to: '/keys', name: 'Keys', scope: 'admin' },
  { to: '/health', name: 'Health', scope: 'admin' },
] as const;

/** The frame around every page. */
export function Shell() {
  const { signOut } = useSession();
  const waiting = useWaitingCount();
  const nav = useCurrentInSight();
  const isAdmin = useMay('admin');
  const offered = pages.filter(({ scope }) => scope === 'read' || isAdmin);
  return (
    <div className="shell">
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <header className="side">
        <Link to="/runs" className="brand">
          <Mark />
          Rondo
        </Link>
        <nav aria-label="Pages" ref={nav}>
          {offered.map(({ to, name }) => (
            <Link key={to} to={to} activeProps={{ 'aria-current': 'page' }}>
              {name}
              {to === '/inbox' && waiting > 0 && (
                <b className="badge" aria-label={`${waiting} wait for you`}>
                  {waiting}
                </b>
              )}
            </Link>
          ))}
        </nav>
        <div className="side-end">
          <ThemeSwitch />
          <Action className="quiet" work={signOut}>
            Sign out
          </Action>
        </div>
      </header>
      <main id="page" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

/** How many runs wait for a person; the tab's title says it too. */
function useWaitingCount(): number {
  const { rondo } = useSession();
  const { data } = useQuery({
    queryKey: ['inbox'],
    queryFn: () => take(rondo.approvals.inbox({ limit: 100 }), 100),
    refetchInterval: 4_000,
  });
  const waiting = data?.items.length ?? 0;
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Rondo` : 'Rondo';
  }, [waiting]);
  return waiting;
}

/** On a phone the pages are a line that scrolls: the current one is always in sight. */
function useCurrentInSight() {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [pathname]);
  return nav;
}
