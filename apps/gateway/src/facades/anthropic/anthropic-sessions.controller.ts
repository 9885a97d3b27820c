import { Controller, UseGuards } from '@nestjs/common';
import { anthropic as routes } from '@rondo/contract/api';
import { Route, type RouteInput } from '../../http/route';
import type { EventFormat } from '../../live/event-stream';
import { RunWatches } from '../../live/run-watches';
import type { ThreadEvent } from '../../live/thread-subscriptions';
import { type Position, writePosition } from '../positions';
import { AnthropicSessions } from './anthropic-sessions';
import { AnthropicTranslator } from './anthropic.translate';
import { AnthropicVersionGuard } from './anthropic-version.guard';

const now = (): string => new Date().toISOString();

/** Sessions and their events, as clients of Claude Managed Agents ask for them. */
@Controller()
@UseGuards(AnthropicVersionGuard)
export class AnthropicSessionsController {
  constructor(
    private readonly sessions: AnthropicSessions,
    private readonly watches: RunWatches,
  ) {}

  @Route(routes.createAnthropicSession)
  createAnthropicSession({ body, caller }: RouteInput<typeof routes.createAnthropicSession>) {
    return this.sessions.create(caller, body, now());
  }

  @Route(routes.listAnthropicSessions)
  listAnthropicSessions({ query, caller }: RouteInput<typeof routes.listAnthropicSessions>) {
    return this.sessions.list(caller.accountId, query);
  }

  @Route(routes.getAnthropicSession)
  getAnthropicSession({ address }: RouteInput<typeof routes.getAnthropicSession>) {
    return this.sessions.get(address);
  }

  @Route(routes.updateAnthropicSession)
  updateAnthropicSession({ address, body }: RouteInput<typeof routes.updateAnthropicSession>) {
    return this.sessions.update(address, body, now());
  }

  @Route(routes.archiveAnthropicSession)
  archiveAnthropicSession({ address }: RouteInput<typeof routes.archiveAnthropicSession>) {
    return this.sessions.archive(address, now());
  }

  @Route(routes.deleteAnthropicSession)
  deleteAnthropicSession({ address }: RouteInput<typeof routes.deleteAnthropicSession>) {
    return this.sessions.delete(address);
  }

  @Route(routes.listAnthropicEvents)
  listAnthropicEvents({ address, query }: RouteInput<typeof routes.listAnthropicEvents>) {
    return this.sessions.listEvents(address, query);
  }

  @Route(routes.sendAnthropicEvents)
  sendAnthropicEvents({ address, body, caller }: RouteInput<typeof routes.sendAnthropicEvents>) {
    return this.sessions.send(address, body.events, caller);
  }

  @Route(routes.listAnthropicResources)
  listAnthropicResources({ address, query }: RouteInput<typeof routes.listAnthropicResources>) {
    return this.sessions.listResources(address, query);
  }

  @Route(routes.addAnthropicResource)
  addAnthropicResource({ address, body }: RouteInput<typeof routes.addAnthropicResource>) {
    return this.sessions.addResource(address, body, now());
  }

  @Route(routes.getAnthropicResource)
  getAnthropicResource({ address }: RouteInput<typeof routes.getAnthropicResource>) {
    return this.sessions.getResource(address, address.resourceId);
  }

  @Route(routes.deleteAnthropicResource)
  deleteAnthropicResource({ address }: RouteInput<typeof routes.deleteAnthropicResource>) {
    return this.sessions.deleteResource(address, address.resourceId, now());
  }

  @Route(routes.streamAnthropicEvents)
  async streamAnthropicEvents(input: RouteInput<typeof routes.streamAnthropicEvents>): Promise<void> {
    const { address, query, caller, request, response } = input;
    const previews = new Set([...(query.event_deltas ?? []), ...(query['event_deltas[]'] ?? [])]);
    const after = await this.sessions.findStart(address, request.get('last-event-id'));
    const format = createStreamFormat({ sessionId: address.threadId, previews, after });
    await this.watches.streamThread(format, address, { caller, place: after.place, response });
  }
}

interface StreamOptions {
  readonly sessionId: string;
  readonly previews: ReadonlySet<string>;
  /** The last fact that was before the stream, and how many of its events the client has. */
  readonly after: Position;
}

const toFrame = (event: { readonly type: string }, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/**
 * A stream has what happens after it was opened, and does not end with a turn. The `id` of a frame says which event of which
 * fact it is, so that `Last-Event-ID` resumes after it at any gateway. Previews have none.
 */
function createStreamFormat({ sessionId, previews, after }: StreamOptions): EventFormat<ThreadEvent> {
  let place = 0;
  let translator: AnthropicTranslator | undefined;
  return {
    headers: {},
    opening: '',
    keepAlive: toFrame({ type: 'ping' }),
    isOver: () => false,
    write: (given) => {
      if (given.place !== place || !translator) translator = new AnthropicTranslator(given.run, { previews });
      ({ place } = given);
      const translated = translator.translate(given.event);
      const { seq } = given.event;
      if (seq === null) return translated.previews.map((preview) => toFrame(preview)).join('');
      const isBefore = place < after.place || (place === after.place && seq < after.seq);
      if (isBefore) return '';
      const known = place === after.place && seq === after.seq ? after.units : 0;
      return translated.events
        .map((event, index) => toFrame(event, writePosition({ place, seq, units: index + 1 })))
        .slice(known)
        .join('');
    },
    writeEnd: (ending) => {
      const deleted = { type: 'session.deleted', id: `sevt_${sessionId}_d`, processed_at: now() };
      return ending === 'deleted' ? toFrame(deleted) : '';
    },
  };
}
