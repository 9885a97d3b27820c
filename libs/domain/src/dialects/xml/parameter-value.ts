import { type Reading, type TextSource, notSpace } from '../text-source';
import { WordTrie } from '../word-trie';
import { OpenTag } from './open-tag';
import { type RawValue, readRawValue } from './raw-value';

const parameterStart = '<parameter';
const parameterEnd = '</parameter>';
const end = new WordTrie([parameterEnd]);
const afterEnd = new WordTrie([parameterStart, '</invoke>', '</function_calls>']);

/** The end of a value, with the tag of the next parameter if one was read to find it. */
export interface ParameterEnd {
  readonly next?: OpenTag;
}

/**
 * The value of a parameter after its opening tag. It ends at the first `</parameter>` that is followed by another
 * parameter, `</invoke>` or `</function_calls>`. Any other `</parameter>` belongs to the value.
 */
export const readParameterValue = (source: TextSource): Reading<RawValue<ParameterEnd>> =>
  readRawValue(source, (keep) => readToEnd(source, keep));

function* readToEnd(source: TextSource, keep: (text: string) => void): Reading<ParameterEnd | undefined> {
  while (yield* source.passUntil(end, keep)) {
    const closing = source.take(parameterEnd.length) + (yield* source.readUntil(notSpace));
    const follower = yield* source.comes(afterEnd);
    if (follower !== parameterStart) {
      if (follower) return {};
      keep(closing);
      continue;
    }
    const opening = source.take(parameterStart.length);
    const next = yield* OpenTag.read(source);
    if (next.attributes.has('name')) return { next };
    keep(closing + opening + next.text);
  }
  return undefined;
}

/** Text that could end a value early. */
export const looksLikeParameterEnd = (value: string): boolean => value.includes(parameterEnd);
