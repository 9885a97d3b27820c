import { type Change, sequenceDiff } from './sequence-diff.ts';

/** A piece of a text; `isOwn` if the other text does not have it there. */
export interface Piece {
  readonly text: string;
  readonly isOwn: boolean;
}

export interface WordDiff {
  readonly before: readonly Piece[];
  readonly after: readonly Piece[];
}

/**
 * The words that differ, in each of two texts. Lines are compared first and words only within what has changed, so a long text
 * costs what its changes cost.
 */
export function wordDiff(before: string, after: string): WordDiff {
  const changes = findRegions(sequenceDiff(listLines(before), listLines(after))).flatMap((region) =>
    region.kind === 'same' ? [region] : readable(sequenceDiff(listWords(region.removed), listWords(region.added))),
  );
  return { before: listPieces(changes, 'removed'), after: listPieces(changes, 'added') };
}

const listLines = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n)/));

/** Also of languages that put no space between words. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
const listWords = (text: string): string[] => Array.from(segmenter.segment(text), ({ segment }) => segment);

type Region =
  { readonly kind: 'same'; readonly text: string } | { readonly kind: 'changed'; removed: string; added: string };

/** Lines that were removed and added in one place are one region. */
function findRegions(lines: readonly Change[]): Region[] {
  const regions: Region[] = [];
  for (const { kind, text } of lines) {
    const last = regions.at(-1);
    if (kind === 'same') {
      regions.push({ kind, text });
      continue;
    }
    const region = last?.kind === 'changed' ? last : { kind: 'changed' as const, removed: '', added: '' };
    if (region !== last) regions.push(region);
    region[kind] += text;
  }
  return regions;
}

/** A space that both have between words that differ is marked with them: a phrase reads better than its words. */
const readable = (changes: readonly Change[]): Change[] =>
  changes.flatMap((change, index) => {
    const [previous, next] = [changes[index - 1]?.kind ?? 'same', changes[index + 1]?.kind ?? 'same'];
    const isBetween = change.kind === 'same' && previous !== 'same' && next !== 'same';
    if (!isBetween || change.text.trim() !== '') return [change];
    return (['removed', 'added'] as const).map((kind) => ({ kind, text: change.text }));
  });

/** Of one of the texts, with neighbours of a kind joined. */
function listPieces(changes: readonly Change[], own: 'removed' | 'added'): Piece[] {
  const pieces: { text: string; isOwn: boolean }[] = [];
  for (const { kind, text } of changes) {
    if (kind !== 'same' && kind !== own) continue;
    const [isOwn, last] = [kind === own, pieces.at(-1)];
    if (last?.isOwn === isOwn) last.text += text;
    else pieces.push({ text, isOwn });
  }
  return pieces;
}
