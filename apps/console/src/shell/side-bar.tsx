import { isOver, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useMay, useRondo, useSession } from '../session/use-session.ts';
import { nameThread } from '../threads/thread-title.ts';
import { Link, useLocation } from '@tanstack/react-router';
import { Action } from '../ui/action.tsx';
import { Mark } from '../ui/mark.tsx';
import { PageLink, TabIcon } from './page-link.tsx';
import type { PageEntry } from '../pages.ts';
import { ThemeSwitch } from './theme-switch.tsx';
import { WhoAmI } from './who-am-i.tsx';

interface SideBarProps {
  readonly pages: readonly PageEntry[];
  readonly waiting: number;
}

/** The pages on a wide screen. */
export function SideBar({ pages, waiting }: SideBarProps) {
  const { signOut } = useSession();
  const { pathname } = useLocation();
  return (
    <header className="side">
      <Link to="/runs" className="brand">
        <Mark />
        Rondo
      </Link>
      <nav aria-label="Pages">
        {pages.map((page) => (
          <PageLink key={page.to} page={page} waiting={waiting}>
            <TabIcon name={page.to} />
          </PageLink>
        ))}
      </nav>
      {pathname.startsWith('/threads/') && <RecentThreads />}
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

const shown = 12;
const refreshMs = 5_000;

/** Beside a conversation: the newest ones, and the way to a new one. */
function RecentThreads() {
  const rondo = useRondo();
  const mayWrite = useMay('write');
  const { data } = useQuery({
    queryKey: ['threads', 'recent'],
    queryFn: () => take(rondo.threads.list({ limit: shown }), shown),
    refetchInterval: refreshMs,
  });
  return (
    <nav className="recent" aria-label="Recent threads">
      {mayWrite && (
        <Link to="/threads/new" className="button" activeOptions={{ exact: true }}>
          New thread
        </Link>
      )}
      {data?.items.map((thread) => (
        <Link
          key={thread.id}
          to="/threads/$threadId"
          params={{ threadId: thread.id }}
          title={nameThread(thread)}
          activeProps={{ 'aria-current': 'page' }}
          className={thread.newest_run && !isOver(thread.newest_run) ? 'at-work' : ''}
        >
          <bdi>{nameThread(thread) ?? 'No messages yet'}</bdi>
        </Link>
      ))}
    </nav>
  );
}
