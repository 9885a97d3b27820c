import { useEffect, useState } from 'react';

interface PlaybackProps {
  /** Which step of the run is shown, from 0, and how many there are. */
  readonly index: number;
  readonly count: number;
  readonly label: string;
  readonly go: (index: number) => void;
}

const stepMs = 1_500;

/** Goes through the steps of a run, one by one, by itself or by hand. */
export function Playback({ index, count, label, go }: PlaybackProps) {
  const [isPlaying, setPlaying] = useState(false);
  const isLast = index >= count - 1;
  useEffect(() => {
    if (!isPlaying) return;
    if (isLast) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => go(index + 1), stepMs);
    return () => clearTimeout(timer);
  }, [isPlaying, isLast, index, go]);
  const jump = (to: number) => {
    setPlaying(false);
    go(to);
  };
  const play = () => {
    if (isLast) go(0);
    setPlaying(!isPlaying);
  };
  return (
    <div className="playback" role="group" aria-label="Playback">
      <button aria-label="The step before" disabled={index === 0} onClick={() => jump(index - 1)}>
        ‹
      </button>
      <button aria-label={isPlaying ? 'Pause' : 'Play'} disabled={count < 2} onClick={play}>
        {isPlaying ? '❚❚' : '▶'}
      </button>
      <button aria-label="The step after" disabled={isLast} onClick={() => jump(index + 1)}>
        ›
      </button>
      <input
        type="range"
        min={1}
        max={count}
        value={index + 1}
        aria-label="Step of the run"
        aria-valuetext={`Step ${index + 1} of ${count}: ${label}`}
        onChange={({ currentTarget }) => jump(Number(currentTarget.value) - 1)}
      />
      <output>
        {index + 1} of {count}
      </output>
    </div>
  );
}
