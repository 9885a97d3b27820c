import { encodeEntities } from '@rondo/domain';

/** Lengths are parts of the width of a plot. */
export interface Bar {
  readonly name: string;
  readonly length: number;
  /** An interval, drawn across the end of the bar. */
  readonly range?: readonly [number, number];
  readonly label: string;
}

const [width, rowHeight] = [320, 46];
const x = (part: number): string => (part * width).toFixed(1);

/** Bars below each other, each under its name and its label. */
export function toPlot(title: string, bars: readonly Bar[]): string {
  const rows = bars.map(({ name, length, range, label }, index) => {
    const y = index * rowHeight;
    return (
      `<text class="name" x="0" y="${y + 14}">${encodeEntities(name.slice(-28))}</text>` +
      `<text x="${width}" y="${y + 14}" text-anchor="end">${encodeEntities(label)}</text>` +
      `<rect class="track" x="0" y="${y + 22}" width="${width}" height="10" rx="3"/>` +
      `<rect class="bar" x="0" y="${y + 22}" width="${x(length)}" height="10" rx="3"/>` +
      (range ? toInterval(range, y + 27) : '')
    );
  });
  const box = `0 0 ${width} ${bars.length * rowHeight - 8}`;
  const drawing = `<svg role="img" aria-label="${encodeEntities(title)}" viewBox="${box}">${rows.join('')}</svg>`;
  return `<figure><figcaption>${encodeEntities(title)}</figcaption>${drawing}</figure>`;
}

const toInterval = ([from, to]: readonly [number, number], y: number): string =>
  `<path class="range" d="M${x(from)} ${y}H${x(to)}M${x(from)} ${y - 5}v10M${x(to)} ${y - 5}v10"/>`;
