interface BehindNoticeProps {
  readonly follow: (choice: 'keep' | 'discard') => void;
}

/** Beside a draft that began from something else than what is stored now: no change is lost unseen. */
export const BehindNotice = ({ follow }: BehindNoticeProps) => (
  <div role="alert">
    <p className="problem">
      Something else was stored meanwhile; what is written here began from what was there before.
    </p>
    <div className="actions">
      <button type="button" onClick={() => follow('discard')}>
        Show what was stored
      </button>
      <button type="button" onClick={() => follow('keep')}>
        Keep what is written here
      </button>
    </div>
  </div>
);
