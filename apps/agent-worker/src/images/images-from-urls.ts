import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId, ContentBlock, InlineImage, Message, MessageId, NewMessage, ThreadId } from '@rondo/contract';
import { type ClaimedRun, countSentImages } from '@rondo/domain';
import type { FetchedImage, FetchedImages, ImagePlace } from '@rondo/persistence';
import { ImageProblem } from './fetch-image';

export interface ImagesFromUrlsParts {
  readonly recorded: Pick<FetchedImages, 'of' | 'keep' | 'refuse'>;
  /** Rejects with ImageProblem. */
  readonly fetch: (url: string, signal: AbortSignal) => Promise<InlineImage>;
  /** Before the second attempt. */
  readonly pauseMs: number;
}

type Owner = Readonly<{ accountId: AccountId; threadId: ThreadId }>;
type UrlPlace = ImagePlace & { readonly url: string };
type Outcomes = ReadonlyMap<string, FetchedImage>;

const attempts = 2;
/** However many images a run wants to keep in its context. */
const mostImages = 20;
/** A run fetches so many at a time: their bytes are in memory until they are recorded. */
const mostAtOnce = 4;

/**
 * Puts blobs in the place of image URLs, before the run goes on: neither the loop nor a provider ever gets a URL to follow.
 * Each is fetched once. What came of it is recorded under its message, which itself stays as it was given, so that all
 * later iterations, runs and workers see the same; a failure too, since what the model was told must not change under it.
 * Only the newest images that the context keeps are fetched. A crash between fetch and record costs one more fetch.
 */
export class ImagesFromUrls {
  constructor(private readonly parts: ImagesFromUrlsParts) {}

  /** The claim with what its messages show. After an abort, what was not fetched by then is left out. */
  async showIn(claim: ClaimedRun, signal: AbortSignal): Promise<ClaimedRun> {
    const places = listMessages(claim).flatMap(listUrls);
    if (places.length === 0) return claim;

    const outcomes = new Map<string, FetchedImage>();
    const messages = [...new Set(places.map(({ messageId }) => messageId))];
    for (const one of await this.parts.recorded.of(messages)) outcomes.set(toKey(one), one.fetched);

    const most = Math.min(countSentImages(claim.run.settings.context.keep_images), mostImages);
    const newest = most > 0 ? places.slice(-most) : [];
    const missing = newest.filter((place) => !outcomes.has(toKey(place)));
    for (let at = 0; at < missing.length; at += mostAtOnce) {
      const fetched = missing.slice(at, at + mostAtOnce).map(async (place) => {
        const outcome = await this.settle(place, claim, signal);
        if (outcome) outcomes.set(toKey(place), outcome);
      });
      await Promise.all(fetched);
    }
    return withImages(claim, outcomes);
  }

  private async settle(place: UrlPlace, owner: Owner, signal: AbortSignal): Promise<FetchedImage | undefined> {
    const found = signal.aborted ? undefined : await this.tryToFetch(place.url, signal);
    if (!found || signal.aborted) return undefined; // says nothing about the image
    if (found instanceof ImageProblem) return this.parts.recorded.refuse(place, found.message);
    return this.parts.recorded.keep(place, owner, found);
  }

  private async tryToFetch(url: string, signal: AbortSignal): Promise<InlineImage | ImageProblem> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.parts.fetch(url, signal);
      } catch (error) {
        if (!(error instanceof ImageProblem)) throw error;
        if (!error.mayPass || attempt === attempts || signal.aborted) return error;
      }
      await sleep(this.parts.pauseMs, undefined, { signal }).catch(() => undefined); // the next attempt ends at once
    }
  }
}

const toKey = ({ messageId, block }: ImagePlace): string => `${messageId} ${block}`;

const listMessages = ({ earlier, log }: ClaimedRun): readonly (Message | NewMessage)[] => [
  ...earlier,
  ...log.flatMap((fact) => (fact.type === 'message.created' ? [fact.data.message] : [])),
];

const listUrls = ({ id, content }: { id: MessageId; content: readonly ContentBlock[] }): UrlPlace[] =>
  content.flatMap((block, index) =>
    block.type === 'image' && block.source.type === 'url'
      ? [{ messageId: id, block: index, url: block.source.url }]
      : [],
  );

function withImages(claim: ClaimedRun, outcomes: Outcomes): ClaimedRun {
  return {
    ...claim,
    earlier: claim.earlier.map((message) => showing(message, outcomes)),
    log: claim.log.map((fact) =>
      fact.type === 'message.created' ? { ...fact, data: { message: showing(fact.data.message, outcomes) } } : fact,
    ),
  };
}

function showing<M extends Message | NewMessage>(message: M, outcomes: Outcomes): M {
  const places = listUrls(message);
  if (places.length === 0) return message;
  const content = message.content.map((block, index): ContentBlock => {
    const place = places.find((one) => one.block === index);
    const outcome = place && outcomes.get(toKey(place));
    if (!outcome) return block;
    if (outcome.how === 'kept') return { type: 'image', source: { type: 'blob', ...outcome.image } };
    return { type: 'text', text: `[The image ${toName(place.url)} could not be loaded: ${outcome.problem}.]` };
  });
  return { ...message, content };
}

const longestName = 200;

/** Enough to know it again, without what may be secret: the user and the query of its URL. */
function toName(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`.slice(0, longestName);
}
