import type { BrowserAction, BrowserScreen } from '@rondo/client';
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef } from 'react';
import { actionOfKey, toPlace } from './page-input.ts';

interface LivePictureProps {
  readonly screen: BrowserScreen;
  /** Absent for those who watch. */
  readonly act: ((action: BrowserAction) => void) | undefined;
}

/** The page. What is clicked, typed, pasted and scrolled on it happens there. */
export function LivePicture({ screen, act }: LivePictureProps) {
  const url = usePicture(screen.screenshot);
  if (url === undefined) return <p className="hint">The page does not respond.</p>;
  const picture = <img src={url} alt={`The page ${screen.title}`} draggable={false} />;
  return act ? (
    <OperatedPicture screen={screen} act={act}>
      {picture}
    </OperatedPicture>
  ) : (
    <div className="live-picture">{picture}</div>
  );
}

interface OperatedProps {
  readonly screen: BrowserScreen;
  readonly act: (action: BrowserAction) => void;
  readonly children: React.ReactNode;
}

function OperatedPicture({ screen, act, children }: OperatedProps) {
  const frame = useRef<HTMLDivElement>(null);
  useWheel(frame, screen, act);
  const click = (event: MouseEvent<HTMLDivElement>, button: 'left' | 'right') => {
    event.preventDefault();
    event.currentTarget.focus();
    act({ type: 'click', button, ...toPlace(event, event.currentTarget.getBoundingClientRect(), screen) });
  };
  const press = (event: KeyboardEvent) => {
    const action = actionOfKey(event);
    if (!action) return;
    event.preventDefault();
    act(action);
  };
  return (
    <div
      ref={frame}
      className="live-picture"
      role="application"
      aria-label="The page: click on it, and type. Tab leads on."
      tabIndex={0}
      onClick={(event) => click(event, 'left')}
      onContextMenu={(event) => click(event, 'right')}
      onKeyDown={press}
      onPaste={({ clipboardData }) => {
        const text = clipboardData.getData('text/plain').slice(0, 4_000);
        if (text !== '') act({ type: 'text', text });
      }}
    >
      {children}
    </div>
  );
}

/** React listens to wheels without the right to keep the console itself from scrolling. */
function useWheel(frame: React.RefObject<HTMLDivElement | null>, screen: BrowserScreen, act: OperatedProps['act']) {
  const { width, height } = screen;
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const place = toPlace(event, element.getBoundingClientRect(), { width, height });
      act({ type: 'scroll', ...place, dx: Math.round(event.deltaX), dy: Math.round(event.deltaY) });
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  }, [frame, width, height, act]);
}

/** The policy of the console lets no address hold a picture itself. */
function usePicture(base64: string | null): string | undefined {
  const url = useMemo(() => {
    if (base64 === null) return undefined;
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return URL.createObjectURL(new Blob([bytes], { type: 'image/jpeg' }));
  }, [base64]);
  useEffect(() => () => (url === undefined ? undefined : URL.revokeObjectURL(url)), [url]);
  return url;
}
