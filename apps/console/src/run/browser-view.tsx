import type { BrowserState } from '@rondo/client';
import { plainText } from '@rondo/react';
import { type ReactNode, useState } from 'react';
import { Modal } from '../ui/modal.tsx';
import { BlobImage } from './blob-image.tsx';

interface BrowserViewProps {
  readonly screens: readonly BrowserState[];
  /** Beside the page: the way into the browser as it is now. */
  readonly live: ReactNode;
}

/** What the browser of the run showed: the newest page, until another one is chosen. */
export function BrowserView({ screens, live }: BrowserViewProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const [isLarge, setLarge] = useState(false);
  const index = Math.min(chosen ?? Infinity, screens.length - 1);
  const screen = screens[index]?.data;
  if (!screen) return null;
  const { title, screenshot } = screen;
  const picture = screenshot && <BlobImage sha256={screenshot.sha256} alt={`Screenshot of ${title}`} />;
  const steps = <Steps index={index} count={screens.length} choose={setChosen} />;
  return (
    <section aria-label="Browser">
      <h2>Browser</h2>
      <p className="screen-title">{title}</p>
      {screenshot && (
        <button className="screen" aria-label={`Enlarge the screenshot of ${title}`} onClick={() => setLarge(true)}>
          {picture}
        </button>
      )}
      <p className="hint">{plainText(screen.url)}</p>
      {screens.length > 1 && steps}
      {live}
      {isLarge && (
        <Modal title={title === '' ? 'Browser' : title} onClose={() => setLarge(false)}>
          {(close) => (
            <>
              {picture}
              <div className="actions">
                {screens.length > 1 && steps}
                <button onClick={close}>Close</button>
              </div>
            </>
          )}
        </Modal>
      )}
    </section>
  );
}

interface StepsProps {
  readonly index: number;
  readonly count: number;
  /** Null: the newest, also when further ones come. */
  readonly choose: (index: number | null) => void;
}

function Steps({ index, count, choose }: StepsProps) {
  return (
    <span className="steps">
      <button aria-label="The page before" disabled={index === 0} onClick={() => choose(index - 1)}>
        ‹
      </button>
      <span role="status">
        {index + 1} of {count}
      </span>
      <button
        aria-label="The page after"
        disabled={index === count - 1}
        onClick={() => choose(index + 1 === count - 1 ? null : index + 1)}
      >
        ›
      </button>
    </span>
  );
}
