import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useConnectionLost } from '../session/connection.ts';
import { type Scope, useMay, useRondo } from '../session/use-session.ts';
import { Shortcuts } from '../palette/shortcuts.tsx';
import { take } from '@rondo/client';
import { LeaveGuard } from '../ui/unsaved.tsx';
import { useNarrow } from '../ui/use-narrow.ts';
import { findNeededScope, pages } from '../pages.ts';
import { PhoneBar } from './phone-bar.tsx';
import { SideBar } from './side-bar.tsx';

/** The frame around every page. */
export function Shell() {
  const waiting = useWaitingCount();
  useTitle(waiting);
  const may = {
    read: true,
    write: useMay('write'),
    admin: useMay('admin'),
    operator: useMay('operator'),
  };
  const { pathname } = useLocation();
  const needed = findNeededScope(pathname);
  const Bar = useNarrow() ? PhoneBar : SideBar;
  return (
    <div className="shell">
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <Shortcuts />
      <LeaveGuard />
      <ConnectionNotice />
      <Bar pages={pages.filter(({ scope }) => may[scope])} waiting={waiting} />
      <main id="page" tabIndex={-1}>
        {may[needed] ? <Outlet /> : <NotOffered scope={needed} />}
      </main>
    </div>
  );
}

/** On every page: what is shown may be old, and goes on by itself. */
function ConnectionNotice() {
  const isLost = useConnectionLost();
  return (
    <p className="connection-lost" role="status">
      {isLost ? 'Connection lost; it is made again.' : ''}
    </p>
  );
}

const keys: Readonly<Record<Scope, string>> = {
  read: 'a key that may read',
  write: 'a key that may write',
  admin: 'an admin key of this account',
  operator: 'an admin key of the account that operates this deployment',
};

function NotOffered({ scope }: { readonly scope: Scope }) {
  return (
    <div className="state">
      <h1>This key may not open this page</h1>
      <p>This page needs {keys[scope]}.</p>
      <Link to="/runs">All runs</Link>
    </div>
  );
}

/** How many runs wait for a person. */
function useWaitingCount(): number {
  const rondo = useRondo();
  const { data } = useQuery({
    queryKey: ['inbox'],
    queryFn: () => take(rondo.approvals.inbox({ limit: 100 }), 100),
    refetchInterval: 4_000,
  });
  return data?.items.length ?? 0;
}

/** Tabs, history and bookmarks have the heading of their page, which may change while it is shown. */
function useTitle(waiting: number): void {
  useEffect(() => {
    const page = document.getElementById('page');
    if (!page) return;
    const update = () => {
      const heading = page.querySelector('h1')?.textContent.trim() ?? '';
      const title = [...(waiting > 0 ? [`(${waiting})`] : []), ...(heading === '' ? [] : [heading, '·']), 'Rondo'].join(
        ' ',
      );
      if (document.title !== title) document.title = title;
    };
    update();
    const observer = new MutationObserver(update);
    observer.observe(page, { childList: true, characterData: true, subtree: true });
    return () => observer.disconnect();
  }, [waiting]);
}
