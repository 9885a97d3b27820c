import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useMay } from '../session/use-may.ts';
import { useRondo } from '../session/use-session.ts';
import { take } from '../ui/take.ts';
import { useNarrow } from '../ui/use-narrow.ts';
import { pages } from './pages.ts';
import { PhoneBar } from './phone-bar.tsx';
import { SideBar } from './side-bar.tsx';

/** The frame around every page. */
export function Shell() {
  const waiting = useWaitingCount();
  useTitle(waiting);
  const isAdmin = useMay('admin');
  const Bar = useNarrow() ? PhoneBar : SideBar;
  return (
    <div className="shell">
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <Bar pages={pages.filter(({ scope }) => scope === 'read' || isAdmin)} waiting={waiting} />
      <main id="page" tabIndex={-1}>
        <Outlet />
      </main>
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
