import { type Run, describeEnding, isOver, take } from '@rondo/client';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useRondo } from '../session/use-session.ts';
import { statusWord } from '../ui/status.tsx';

const storedAs = 'rondo.notify';
const lookMs = 5_000;

export interface Notifications {
  readonly isOn: boolean;
  /** Absent where the browser has none for pages, or the person has refused them. Asks for permission the first time. */
  readonly toggle: (() => void) | undefined;
}

/** Tells a person who looks at something else that the newest run of a thread waits for them or has ended. */
export function useNotifications(threadId: string, title: string): Notifications {
  const rondo = useRondo();
  const isKnown = 'Notification' in globalThis;
  const [isOn, setOn] = useState(() => isKnown && Notification.permission === 'granted' && isWanted());
  const [isRefused, setRefused] = useState(() => isKnown && Notification.permission === 'denied');
  const { data: run } = useQuery({
    queryKey: ['notified', threadId],
    queryFn: async () => (await take(rondo.runs.list({ thread_id: threadId, limit: 1 }), 1)).items[0] ?? null,
    refetchInterval: lookMs,
    refetchIntervalInBackground: true, // a hidden page is what this is for
    enabled: isOn,
  });
  const giveUp = useCallback(() => {
    setOn(false);
    setRefused(true);
  }, []);
  useNews(isOn ? run : null, { title, giveUp });
  const toggle = () => {
    if (isOn) {
      localStorage.removeItem(storedAs);
      setOn(false);
      return;
    }
    void Notification.requestPermission().then((answer) => {
      if (answer === 'granted') localStorage.setItem(storedAs, 'on');
      setOn(answer === 'granted');
      setRefused(answer === 'denied');
    });
  };
  return { isOn, toggle: isKnown && !isRefused ? toggle : undefined };
}

const isWanted = (): boolean => localStorage.getItem(storedAs) === 'on';

interface News {
  readonly title: string;
  /** The browser shows none of a page. */
  readonly giveUp: () => void;
}

function useNews(run: Run | null | undefined, { title, giveUp }: News): void {
  const before = useRef<string | null>(null);
  useEffect(() => {
    if (!run) return;
    const state = `${run.id} ${run.status}`;
    const isNew = before.current !== null && before.current !== state;
    before.current = state;
    const news = isNew && document.hidden ? readNews(run) : undefined;
    if (news === undefined) return;
    try {
      const shown = new Notification(title, { body: news, tag: run.id });
      shown.onclick = () => window.focus();
    } catch {
      giveUp(); // Chrome on Android has the class and the permission, and throws: there only a service worker may
    }
  }, [run, title, giveUp]);
}

/** What a person is told about the run; nothing while it goes on without them. */
export function readNews(run: Pick<Run, 'status' | 'finish_reason' | 'error' | 'waiting'>): string | undefined {
  if (run.waiting?.reason === 'ask') return run.waiting.question?.text ?? statusWord(run.status);
  if (run.status === 'waiting_input' || run.status === 'waiting_budget') return statusWord(run.status);
  return isOver(run) ? describeEnding(run)?.sentence : undefined;
}
